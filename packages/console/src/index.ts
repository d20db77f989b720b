export { createConsole } from "./console.ts";
export type { ConsoleMount, ConsoleOptions } from "./console.ts";
export type {
  ConsoleClient,
  ConsoleParts,
  ConsoleServer,
  RunFacts,
  RunQuestion,
  RunQuestions,
  RunWatcher,
  WatchableRun,
} from "./ports.ts";
