export {
  createSelector,
  DEFAULT_SEARCH_LIMIT,
  DEFAULT_SELECT_LIMIT,
  DEFAULT_THRESHOLD,
  MAX_TASK_CHARACTERS,
} from "./selector.ts";
export type { SelectorSettings } from "./selector.ts";
