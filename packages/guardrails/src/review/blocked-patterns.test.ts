import { expect, it } from "vitest";
import { createGuard } from "../guard.ts";

it.each(["drop\\u0054able()", "'drop\\x54able'", "'drop\\u{54}able'"])(
  "finds a blocked name behind escapes: %s",
  async (code) => {
    const guard = createGuard({ blockedPatterns: ["dropTable"] });
    const { allowed, findings } = await guard.review({ code: `\n${code}`, tools: [] });
    expect(allowed).toBe(false);
    expect(findings[0]).toMatchObject({ rule: "blocked-pattern", line: 2 });
  },
);
