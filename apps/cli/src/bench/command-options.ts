import { Argument } from "commander";
import type { Command } from "commander";
import { wholeNumber } from "../command-options.ts";
import type { BenchOptions } from "../invocation.ts";

const MAX_ROUNDS = 1_000;

/** Adds the arguments and options of `cem bench` to its command. */
export function addBenchCommand(
  command: Command,
  found: (options: BenchOptions, command: Command) => void,
): void {
  command
    .addArgument(new Argument("<what>", "what to measure").choices(["pooling"]))
    .option("--sequence <ids>", "programs in this order, such as 01,03,01", (text: string) => text.split(","))
    .option("--example <id>", "one program")
    .option("--all", "every program", false)
    .option("-n, --count <count>", "how many times", wholeNumber(1, MAX_ROUNDS), 5)
    .option("--svg <file>", "write a plot to this file")
    .action((what: "pooling", own: Omit<BenchOptions, "what">) => found({ ...own, what }, command));
}
