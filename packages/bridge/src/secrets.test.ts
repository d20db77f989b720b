import { describe, expect, it } from "vitest";
import { createSecretFilter, hideInside, withoutSecrets } from "./secrets.ts";

describe("createSecretFilter", () => {
  it.each([
    ["API_KEY", "k-123456"],
    ["github_token", "ghp_1234"],
    ["CLIENT_SECRET", "s3cret"],
    ["DB_PASSWORD", "p4ssword"],
    ["AUTHORIZATION", "Bearer 1"],
    ["CREDENTIALS", "user:pw1"],
    ["PRIVATE", "-----BEGIN"],
    ["SESSION_ID", "abc123"],
    ["COOKIE", "sid=1234"],
  ])("hides the value of %s", (name, value) => {
    const hide = createSecretFilter({ [name]: value });
    expect(hide(`${value} and ${value} failed`)).toBe("[redacted] and [redacted] failed");
  });

  it.each([
    ["LANG", "en_US.UTF-8", "an ordinary name"],
    ["API_KEY", "k-123", "less than 6 characters"],
    ["AUTH_MODE", "production", "a word"],
    ["SESSION_PORT", "8080.123", "a number"],
    ["KEY_FILE", "/run/keys/a-1", "an absolute path"],
    ["KEY_FILE", "./keys/a-1", "a relative path"],
    ["KEY_FILE", "../keys/a-1", "a path in the parent folder"],
  ])("keeps the value of %s=%s: %s", (name, value) => {
    expect(createSecretFilter({ [name]: value })(`is ${value}`)).toBe(`is ${value}`);
  });

  it("hides words and numbers that are only a part of the value", () => {
    const hide = createSecretFilter({
      KEY_A: "word-word",
      KEY_B: "12345x",
      KEY_C: "x/a/b/c",
      KEY_D: undefined,
    });
    expect(hide("word-word 12345x x/a/b/c undefined")).toBe("[redacted] [redacted] [redacted] undefined");
  });
});

describe("withoutSecrets", () => {
  it("replaces the longest first, since one may contain another", () => {
    expect(withoutSecrets("abcdef abc", ["abc", "abcdef"])).toBe("[redacted] [redacted]");
    expect(withoutSecrets("abc", [])).toBe("abc");
  });
});

describe("hideInside", () => {
  it("copies data with the secrets in its texts replaced", () => {
    const data = { a: "the key", b: [1, { c: "key" }], d: () => 1 };
    const hidden = hideInside(data, (text) => text.replaceAll("key", "*"));
    expect(hidden).toEqual({ a: "the *", b: [1, { c: "*" }] });
    expect(data.a).toBe("the key");
  });
});
