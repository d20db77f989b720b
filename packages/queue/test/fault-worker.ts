import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { startQueueWorker } from "../src/index.ts";
import { agentOf } from "./agent-of.ts";

// A worker as a process. A run is {id, tool, ms}: it calls the tool, which writes the id into a file, and takes its time.
const [url = "", log = "", lostAfterMs = "1000"] = process.argv.slice(2);

const agent = agentOf(async (input, { onCall, signal }) => {
  const { id, tool, ms } = JSON.parse(input) as { id: string; tool: "look" | "send"; ms: number };
  await onCall?.({ server: "jobs", tool, isRepeatable: tool === "look" });
  appendFileSync(log, `${tool} ${id}\n`);
  if (ms > 0) await sleep(ms, undefined, { signal });
  return { done: id };
});
const worker = await startQueueWorker({
  url,
  agentFor: async () => agent,
  concurrency: 8,
  lostAfterMs: Number(lostAfterMs),
  drainMs: 100,
});
process.once("SIGTERM", () => void worker.close().then(() => process.exit(0)));
process.stdout.write("ready\n");
