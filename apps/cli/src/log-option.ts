import type { SharedOptions } from "./command-options.ts";
import { safeText } from "./safe-text.ts";

/** Where the log goes when no file is set for it: to standard error, for who asks for it. */
export function logOption({ verbose }: Pick<SharedOptions, "verbose">): { onLog: (line: string) => void } {
  return { onLog: (line) => void (verbose && process.stderr.write(`${safeText(line)}\n`)) };
}
