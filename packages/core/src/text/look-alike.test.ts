import { describe, expect, it } from "vitest";
import { findLookAlike } from "./nearest.ts";

const KNOWN = ["github", "filesystem", "my-files", "slack", "db-1", "memory"];

describe("findLookAlike", () => {
  it.each([
    ["githuh", "github"],
    ["gihtub", "github"],
    ["gitub", "github"],
    ["githubb", "github"],
    ["GitHub", "github"],
    ["gіthub", "github"],
    ["ｇｉｔｈｕｂ", "github"],
    ["git\u200Bhub", "github"],
    ["gíthub", "github"],
    ["git-hub", "github"],
    ["fi1esystem", "filesystem"],
    ["rnemory", "memory"],
    ["myfiles", "my-files"],
    ["s1ack", "slack"],
  ])("finds %j to be like %j", (name, other) => {
    expect(findLookAlike(name, KNOWN)).toBe(other);
  });

  it.each(["github", "gitlab", "weather", "db-2", "db-12", "slackbot", "mail", ""])(
    "takes %j for itself",
    (name) => {
      expect(findLookAlike(name, KNOWN)).toBeUndefined();
    },
  );
});
