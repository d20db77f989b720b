import { expect, it } from "vitest";
import { findStatefulTools } from "./tool-list.ts";

it.each([
  [
    ["browser_navigate", "browserClick", "browser_snapshot"],
    ["browser_navigate", "browserClick"],
  ],
  [
    ["begin-transaction", "commit", "query"],
    ["begin-transaction", "commit"],
  ],
  [["open_issue", "list_issues", "restart_count"], []],
  [["get_weather", "get_forecast"], []],
])("finds the tools of %j that keep state: %j", (names, found) => {
  expect(findStatefulTools(names)).toEqual(found);
});
