import type { TaskResult } from "@cem/core";

/** What held a run's guest, as the API tells it. Nothing where no guest was taken. */
export function shownIsolation(isolation: TaskResult["isolation"]) {
  if (isolation === null) return {};
  const { level, mechanisms, sandbox: name } = isolation;
  return { isolation: level, sandbox: { name, level, mechanisms: [...mechanisms] } };
}
