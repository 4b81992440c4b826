import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterAll, beforeAll, expect, test } from "vitest";

import { Gateway } from "./gateway.js";

let gateway: Gateway;
beforeAll(async () => {
  gateway = await Gateway.start();
}, 60_000);
afterAll(() => gateway?.stop());

/** What is tested: it asks once more where the tool fails. */
async function stateOfOrder(client: Client, id: number): Promise<unknown> {
  for (let attempt = 0; attempt < 2; attempt++) {
    const result = await client.callTool({ name: "get_order", arguments: { id } });
    if (!result.isError) return (result.structuredContent as { state: string }).state;
  }
  return "unknown";
}

test("an order is found at the second try", async ({ task }) => {
  const faked = await gateway.test(task.name, [
    {
      name: "get_order",
      calls: [
        { args: { id: 17 }, error: "timed out" },
        { args: { id: 17 }, result: { id: 17, state: "shipped" } },
      ],
    },
  ]);
  expect(await stateOfOrder(await faked.client(), 17)).toBe("shipped");
  expect(await faked.report()).toMatchObject({ ok: true, unconsumed: [], failures: [], unfaked: [] });
});

test("another order is refused, and the report says so", async ({ task }) => {
  const calls = [{ id: "the order", args: { id: 17 }, result: { id: 17, state: "shipped" } }];
  const faked = await gateway.test(task.name, [{ name: "get_order", calls }]);
  await expect(stateOfOrder(await faked.client(), 18)).rejects.toMatchObject({
    code: -32602,
    data: { aimock: { code: "MCP_FAKE_MISMATCH", firstDifference: "$.id: expected 17, received 18" } },
  });
  const report = await faked.report();
  expect(report.ok).toBe(false);
  expect(report.failures.map((call) => call.outcome)).toEqual(["mismatch"]);
  expect(report.unconsumed.map((call) => call.id)).toEqual([expect.stringMatching(/:the order$/)]);
});
