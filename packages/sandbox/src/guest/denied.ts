import { deno } from "./deno.ts";

/** The runtime's message for a denied permission. It suggests a flag, which no program can set. */
const DENIED = /Requires ([a-z]+) access(?: to ([^\n]{0,300}?))?, run again with the --allow-[a-z-]+ flag/g;
const FAILED_TO_SPAWN = /Failed to spawn [^\n]*/g;

export function inSandboxTerms(text: string): string {
  const explained = text.replace(DENIED, (_, kind: string, to?: string) => explain(kind, to));
  return explained.replace(FAILED_TO_SPAWN, "The sandbox can't start programs.");
}

/** Rephrases the errors of denied permissions in terms of the sandbox, including for programs that catch them. */
export function explainDenied(): void {
  // The runtime's class of these errors passes its message to its superclass.
  class Explained extends Error {
    constructor(message?: string, options?: ErrorOptions) {
      super(message === undefined ? undefined : inSandboxTerms(message), options);
    }
  }
  Object.setPrototypeOf(deno.errors.NotCapable, Explained);
}

/** Sentences by permission, with a placeholder for the requested resource. */
const SENTENCES: Readonly<Record<string, string>> = {
  net: "The sandbox has no network access to %. Code reaches only hosts that the configuration allows, by default none; tools reach what they are for.",
  read: "The sandbox can't read %. Code reads files of /workspace and of folders that the configuration mounts; others are read by tools, where a server has them.",
  write:
    "The sandbox can't write %. Code writes files in /workspace, but not in /workspace/servers, /workspace/skills or folders mounted read-only.",
  run: "The sandbox can't start programs: %.",
  sys: "The sandbox can't tell %: code learns nothing of the machine it runs on.",
  ffi: "The sandbox can't load native libraries: %.",
};

function explain(kind: string, target: string = kind === "net" ? "other systems" : "this"): string {
  return (SENTENCES[kind] ?? `The sandbox has no ${kind} access to %.`).replace("%", () => target);
}
