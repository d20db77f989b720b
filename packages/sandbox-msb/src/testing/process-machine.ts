import { spawn, type ChildProcess } from "node:child_process";
import { EventEmitter, on } from "node:events";
import type { MachineCommand } from "@cem/sandbox/provider-kit";
import type { Microvm, MicrovmEvent, MicrovmProcess } from "../microvm-guest.ts";

/** A plain process that stands in for a machine, for tests of the code around machines. */
export class ProcessMachine implements Microvm {
  readonly name = "process";
  readonly pid = undefined;
  killed = 0;
  child: ChildProcess | undefined;

  async exec({ file, args, env }: MachineCommand): Promise<MicrovmProcess> {
    const child = spawn(file, [...args], { env: { ...env }, stdio: "pipe" });
    this.child = child;
    const events = new EventEmitter();
    const queue = on(events, "event");
    for (const kind of ["stdout", "stderr"] as const) {
      child[kind].on("data", (data: Buffer) => events.emit("event", { kind, data }));
    }
    child.once("close", (code, signal) => {
      const gone = this.killed > 0 || signal === "SIGTERM";
      events.emit("event", gone ? undefined : { kind: "exited", code: signal === null ? code : -1 });
    });
    return {
      next: async () => ((await queue.next()).value as [MicrovmEvent | undefined])[0],
      write: (bytes) =>
        new Promise((resolve, reject) => {
          child.stdin.write(bytes, (error) => (error ? reject(error) : resolve()));
        }),
    };
  }

  async kill(): Promise<void> {
    this.killed += 1;
    this.child?.kill("SIGKILL");
  }
}
