export { createConsole } from "./console.ts";
export type { ConsoleMount, ConsoleOptions } from "./console.ts";
export type {
  ConsoleClient,
  ConsoleServer,
  RunFacts,
  RunQuestion,
  RunQuestions,
  RunWatcher,
  WatchableRun,
} from "./ports.ts";
