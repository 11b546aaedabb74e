// Runs a server on stdio, and prints what it answers. The first argument is the folder of the packages.
import { createRequire } from "node:module";

const [packages, command, ...args] = process.argv.slice(2);
const require = createRequire(`${packages}/package.json`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

const client = new Client({ name: "desk", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
console.log(JSON.stringify(client.getServerVersion()));
console.log(JSON.stringify(await client.listTools()));
console.log(JSON.stringify(await client.callTool({ name: "overview", arguments: {} })));
await client.close();
