// An agent in TypeScript: the official MCP client and the official OpenAI client, and the usual loop between them.
// Nothing in it knows Passgrid but the names of the environment variables.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import OpenAI from "openai";
import type { ChatCompletionFunctionTool, ChatCompletionMessageParam } from "openai/resources/chat/completions";

function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: start this agent through Passgrid`);
  return value;
}

/** A client of the tools, and the tools as a model is told of them. */
async function connected(): Promise<{ tools: Client; functions: ChatCompletionFunctionTool[] }> {
  const tools = new Client({ name: "typescript-agent", version: "1.0.0" });
  const headers = { authorization: `Bearer ${given("PASSGRID_TOKEN")}` };
  await tools.connect(new StreamableHTTPClientTransport(new URL(given("PASSGRID_MCP_URL")), { requestInit: { headers } }));
  const functions = (await tools.listTools()).tools.map((tool): ChatCompletionFunctionTool => ({
    type: "function",
    function: { name: tool.name, description: tool.description ?? "", parameters: tool.inputSchema },
  }));
  return { tools, functions };
}

/** What a tool answers, as text. */
async function answered(tools: Client, name: string, args: string): Promise<string> {
  const result = await tools.callTool({ name, arguments: JSON.parse(args || "{}") });
  const blocks = result.content as { type: string; text?: string }[];
  return blocks.map((block) => block.text ?? `[${block.type}]`).join("\n");
}

async function main(): Promise<void> {
  const { tools, functions } = await connected();
  const model = new OpenAI(); // reads OPENAI_BASE_URL and OPENAI_API_KEY
  const system = given("PASSGRID_SYSTEM");
  const messages: ChatCompletionMessageParam[] = [
    ...(system ? [{ role: "system", content: system } as const] : []),
    { role: "user", content: given("PASSGRID_TASK") },
  ];
  for (;;) {
    const completion = await model.chat.completions.create({ model: given("PASSGRID_MODEL"), messages, tools: functions });
    const turn = completion.choices[0]!.message;
    messages.push(turn);
    if (!turn.tool_calls?.length) {
      console.log(turn.content ?? "");
      break;
    }
    const calls = turn.tool_calls.filter((call) => call.type === "function");
    const answers = await Promise.all(calls.map((call) => answered(tools, call.function.name, call.function.arguments)));
    calls.forEach((call, i) => messages.push({ role: "tool", tool_call_id: call.id, content: answers[i]! }));
  }
  await tools.close();
}

await main();
