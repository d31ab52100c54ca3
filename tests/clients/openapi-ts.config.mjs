export default {
	input: "./printed.json",
	output: { path: "./hey-api", importFileExtension: ".js" },
	plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
	logs: { level: "silent" },
};
