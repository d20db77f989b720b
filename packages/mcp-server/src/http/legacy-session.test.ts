import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  MAX_ALL_KEPT_EVENT_CHARACTERS,
  MAX_KEPT_EVENT_CHARACTERS,
  MAX_KEPT_EVENTS,
  MIN_KEPT_EVENT_CHARACTERS,
} from "../limits.ts";
import { LegacySession } from "./legacy-session.ts";

function keep(): LegacySession {
  const events = new LegacySession({});
  onTestFinished(() => events.transport.close());
  return events;
}

const answer = (id: number, characters = 0): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  result: { text: "x".repeat(characters) },
});
const notice: JSONRPCMessage = { jsonrpc: "2.0", method: "notifications/message", params: {} };
const lost = (id: number) => ({
  id,
  error: { code: -32_000, message: expect.stringMatching(/was carried out, and its answer is too large/) },
});

async function begin(events: LegacySession, stream: string): Promise<string> {
  return await events.storeEvent(stream, {} as JSONRPCMessage);
}

async function replay(events: LegacySession, id: string): Promise<JSONRPCMessage[]> {
  const sent: JSONRPCMessage[] = [];
  await events.replayEventsAfter(id, { send: async (_, message) => void sent.push(message) });
  return sent;
}

describe("the events of a session", () => {
  it("are found by any id of their stream, and by none of another session", async () => {
    const events = keep();
    const id = await begin(events, "a");
    const other = await begin(events, "b");
    const first = await events.storeEvent("a", notice);
    await events.storeEvent("b", answer(2));
    await events.storeEvent("a", answer(1));
    expect(await replay(events, id)).toEqual([notice, answer(1)]);
    expect(await replay(events, first)).toEqual([answer(1)]);
    expect(await replay(events, other)).toEqual([answer(2)]);
    expect(await keep().getStreamIdForEventId(id)).toBeUndefined();
  });

  it("give way to answers", async () => {
    const events = keep();
    const id = await begin(events, "a");
    await events.storeEvent("a", answer(1));
    for (let at = 0; at < 2 * MAX_KEPT_EVENTS; at++) await events.storeEvent("a", notice);
    const kept = await replay(events, id);
    expect([kept.length, kept[0]]).toEqual([MAX_KEPT_EVENTS, answer(1)]);
  });

  it("leave an error in the place of an answer that is too much", async () => {
    const events = keep();
    const id = await begin(events, "a");
    await events.storeEvent("a", answer(1, MAX_KEPT_EVENT_CHARACTERS / 2));
    await events.storeEvent("a", answer(2, MAX_KEPT_EVENT_CHARACTERS / 2));
    await events.storeEvent("a", answer(3, MAX_KEPT_EVENT_CHARACTERS));
    expect(await replay(events, id)).toMatchObject([lost(1), lost(2), lost(3)]);
    await events.storeEvent("a", answer(4));
    expect((await replay(events, id)).at(-1)).toEqual(answer(4));
  });

  it("of many sessions share their room, and each has some", async () => {
    const half = MAX_KEPT_EVENT_CHARACTERS - 1_000;
    const all = Array.from({ length: Math.ceil(MAX_ALL_KEPT_EVENT_CHARACTERS / half) }, keep);
    for (const events of all) await events.storeEvent("a", answer(1, half));
    const last = keep();
    const id = await begin(last, "a");
    await last.storeEvent("a", answer(1, MIN_KEPT_EVENT_CHARACTERS / 2));
    await last.storeEvent("a", answer(2, MIN_KEPT_EVENT_CHARACTERS));
    expect(await replay(last, id)).toMatchObject([lost(1), lost(2)]);
    await last.storeEvent("a", answer(3, MIN_KEPT_EVENT_CHARACTERS / 2));
    for (const events of all) await events.transport.close();
    await last.storeEvent("a", answer(4, MIN_KEPT_EVENT_CHARACTERS));
    const kept = await replay(last, id);
    expect(kept).toMatchObject([lost(1), lost(2), { id: 3, result: {} }, { id: 4, result: {} }]);
  });
});
