module.exports = {
	anteroom: {
		input: { target: "./printed.json" },
		// The base is read when the client runs.
		output: { target: "./orval/client.ts", client: "fetch", baseUrl: "${process.env.BASE_URL}" },
	},
};
