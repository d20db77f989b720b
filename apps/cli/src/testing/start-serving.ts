import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { SAMPLES, startCem, temporaryFolder } from "./run-cem.ts";

export interface StartedServing {
  child: ChildProcessWithoutNullStreams;
  url: string;
}

/** Starts `cem serve http|sse` on a free port and resolves with where it listens, as its log says. */
export async function startServing(transport: "http" | "sse"): Promise<StartedServing> {
  const child = startCem(["serve", transport, "--port", "0", ...SAMPLES], { cwd: temporaryFolder() });
  let log = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      const [, found] = /"url":"([^"]+)"/.exec(log) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.on("close", () => reject(new Error(`it ended: ${log}`)));
  });
  return { child, url };
}
