// A gateway of Passgrid for a file of tests: started once, and every test has fakes and a report of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export interface Report {
  ok: boolean;
  served: { mount: string; tool: string; arguments: unknown; id: string }[];
  unconsumed: { id: string; mount: string; left: number }[];
  unfaked: { mount: string; tool: string; arguments: unknown; answered: string }[];
  failures: { mount: string; tool: string; arguments: unknown; outcome: string }[];
  evicted: boolean;
}

export class Gateway {
  private constructor(
    readonly url: string,
    private readonly process: ChildProcess,
  ) {}

  /** Starts a gateway. Its address is the first line it prints. */
  static async start(): Promise<Gateway> {
    const command = ["gateway", "serve", "--space", `vitest-${process.pid}`];
    const child = spawn(process.env.PASSGRID ?? "passgrid", command, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit").then(() => Promise.reject(new Error("the gateway did not start")));
    const [url] = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
    ended.catch(() => undefined);
    return new Gateway(url, child);
  }

  /** Loads tools for one test. Its id is new in every run: what an earlier run has used up is not this one's. */
  async test(name: string, tools: object[], undeclaredTools: "allow" | "deny" = "deny"): Promise<FakedTest> {
    const testId = `${name} ${randomUUID()}`;
    const mcpFakes = { scope: { testId }, undeclaredTools, tools };
    await this.ask("POST", "fixtures", JSON.stringify({ mcpFakes }));
    return new FakedTest(this, testId);
  }

  /** Asks the control API. */
  async ask(method: string, path: string, body?: string): Promise<any> {
    const answer = await fetch(`${this.url}/__aimock/${path}`, { method, body });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return answer.json();
  }

  async stop(): Promise<void> {
    await this.ask("POST", "reset");
    this.process.kill("SIGTERM");
    await once(this.process, "exit");
  }
}

export class FakedTest {
  constructor(
    private readonly gateway: Gateway,
    readonly testId: string,
  ) {}

  /** A client that says with every request which test it is for. */
  async client(mount = "/mcp"): Promise<Client> {
    const headers = { "X-Test-Id": encodeURIComponent(this.testId) };
    const client = new Client({ name: "example", version: "1" });
    const url = new URL(this.gateway.url + mount);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    return client;
  }

  report(): Promise<Report> {
    return this.gateway.ask("GET", `report?testId=${encodeURIComponent(this.testId)}`);
  }
}
