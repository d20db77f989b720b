import { expect, it } from "vitest";
import { checkState } from "./checks.ts";

it("says which servers look stateful, and warns of one whose state all sessions share", () => {
  const statefulTools = ["navigate", "click", "scroll", "close"];
  const own = { name: "browser", sharing: "session" as const, statefulTools };
  expect(checkState([{ name: "weather", sharing: "session", statefulTools: [] }])).toEqual([]);
  expect(checkState([own])).toMatchObject([
    {
      state: "ok",
      summary: "1 server looks stateful",
      notes: [expect.stringMatching(/^browser \(navigate, click, scroll\): each session has a connection/u)],
    },
  ]);
  expect(checkState([own, { ...own, name: "shop", sharing: "shared" }])).toMatchObject([
    {
      state: "warning",
      summary: "2 servers look stateful",
      notes: [expect.any(String), expect.stringContaining("connections: session")],
    },
  ]);
});
