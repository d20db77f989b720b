import { describe, expect, it } from "vitest";
import { connect, odd, until } from "../../fixtures/servers.ts";
import type { McpServerSettings } from "../settings/server-settings.ts";

const signal = new AbortController().signal;
const uri = "note://1";

function open(more: Partial<McpServerSettings>) {
  const told: unknown[] = [];
  const onContentsChanged = (_server: string, change: { uri?: string | undefined }) =>
    void told.push(change.uri);
  const connections = connect([odd("plain", more)], { onContentsChanged });
  const call = (session: string, tool: string) => connections.callTool("odd", tool, {}, { signal, session });
  const send = (session: string, method: "resources/subscribe" | "resources/unsubscribe") =>
    connections.request("odd", { method, params: { uri } }, { signal, session });
  return {
    connections,
    call,
    subscribe: (session: string) => send(session, "resources/subscribe"),
    unsubscribe: (session: string) => send(session, "resources/unsubscribe"),
    /** Takes the updates, once there are so many. */
    told: async (count: number) => {
      await until(() => told.length >= count);
      return told.splice(0);
    },
    [Symbol.asyncDispose]: () => connections.close(),
  };
}

describe.concurrent("subscriptions to resources", () => {
  it("on one connection end with that of the last session", async () => {
    await using opened = open({ connections: "shared" });
    const { connections, call, subscribe, unsubscribe, told } = opened;
    await Promise.all([subscribe("ada"), subscribe("bob")]);
    await unsubscribe("bob");
    await unsubscribe("eve");
    await call("bob", "change");
    expect(await told(1)).toEqual([uri]);
    await unsubscribe("ada");
    await connections.untilLogged(`resources/unsubscribe ${uri}`);
    await call("ada", "change");
    expect(await told(0)).toEqual([]);
  });

  it("are renewed where the server was lost, by the next request of any session", async () => {
    await using opened = open({ connections: "shared" });
    const { call, subscribe, told } = opened;
    await subscribe("ada");
    await expect(call("bob", "crash")).rejects.toThrow("disk is on fire");
    await call("bob", "change");
    // The resource may have changed meanwhile.
    expect(await told(2)).toEqual([uri, uri]);
  });

  it("go on where another session took the connection, and come back with their own", async () => {
    await using opened = open({ maxConnections: 1 });
    const { call, subscribe, told } = opened;
    await subscribe("ada");
    await call("bob", "change");
    expect(await told(2)).toEqual([uri, uri]);
    await call("ada", "change");
    expect(await told(2)).toEqual([uri, uri]);
  });

  it("are had by the connection of each session", async () => {
    await using opened = open({});
    const { call, subscribe, told } = opened;
    await Promise.all([subscribe("ada"), subscribe("bob")]);
    await call("ada", "change");
    await call("bob", "change");
    expect(await told(2)).toEqual([uri, uri]);
    await call("eve", "change");
    expect(await told(0)).toEqual([]);
  });
});
