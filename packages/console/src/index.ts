export { createConsole } from "./console.ts";
export type { ConsoleMount, ConsoleOptions } from "./console.ts";
export type {
  ConsoleClient,
  ConsoleParts,
  ConsoleServer,
  RunQuestion,
  RunQuestions,
  WatchableRun,
} from "./ports.ts";
