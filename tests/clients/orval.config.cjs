module.exports = {
	anteroom: {
		input: { target: "./printed.json" },
		// The base URL is read when the client runs.
		output: { target: "./orval/client.ts", client: "fetch", baseUrl: "${process.env.BASE_URL}" },
	},
};
