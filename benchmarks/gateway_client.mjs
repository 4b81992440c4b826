// One session of an official client for JavaScript, driven over stdin: a line holds a method and its arguments.
//     node gateway_client.mjs FOLDER_OF_PACKAGES sdk|client MODE URL HEADERS
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [folder, name, mode, url, headers] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const load = (path) => require(`@modelcontextprotocol/${name}${path}`);
const { Client } = load(name === "sdk" ? "/client/index.js" : "");
const { StreamableHTTPClientTransport } = load(name === "sdk" ? "/client/streamableHttp.js" : "");

const client = new Client({ name: "passgrid-benchmark", version: "1" }, { versionNegotiation: { mode } });
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: JSON.parse(headers) } });
await client.connect(transport);
const version = transport.protocolVersion ?? client.getNegotiatedProtocolVersion();

for await (const line of createInterface({ input: process.stdin })) {
  const [method, ...given] = JSON.parse(line);
  let said;
  try {
    said = { result: method === "version" ? version : await client[method](...given) };
  } catch (error) {
    said = typeof error.code === "number" ? { code: error.code, data: error.data } : { failed: String(error) };
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
await transport.terminateSession();
await client.close();
