import { describe, expect, it } from "vitest";
import { identifierKey, MAX_WORD_CHARACTERS, splitWords } from "./words.ts";

describe("splitWords", () => {
  it.each([
    ["camelCase", ["camel", "case"]],
    ["PascalCaseName", ["pascal", "case", "name"]],
    ["snake_case_name", ["snake", "case", "name"]],
    ["kebab-case-name", ["kebab", "case", "name"]],
    ["getHTTPServer", ["get", "http", "server"]],
    ["HTTPServer", ["http", "server"]],
    ["SCREAMING_CASE", ["screaming", "case"]],
    ["weather.get_weather", ["weather", "get", "weather"]],
    ["sha256 oauth2 v2 get2items", ["sha256", "oauth2", "v2", "get2", "items"]],
    ["12306-mcp", ["12306", "mcp"]],
    ["Café Zoë naïve", ["cafe", "zoe", "naive"]],
    ["cafe\u0301", ["cafe"]],
    ["Straße Łódź København Œuvre", ["strasse", "lodz", "kobenhavn", "oeuvre"]],
    ["ﬁle İstanbul", ["file", "istanbul"]],
    ["the user's file, don't", ["the", "user", "file", "dont"]],
    ["'Hello World'", ["hello", "world"]],
    ["Привет МИР", ["привет", "мир"]],
    ["Ελλάδας", ["ελλαδασ"]],
    ["使用bing搜索", ["使用", "bing", "搜索"]],
    ["天気予報", ["天気", "気予", "予報"]],
    ["가", ["가"]],
    ["날씨를", ["날씨", "씨를"]],
    ["", []],
    ["… !? 😀", []],
  ])("splits %j", (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  it("cuts endless words", () => {
    expect(splitWords("a".repeat(1_000_000))).toEqual(["a".repeat(MAX_WORD_CHARACTERS)]);
  });

  it.each([
    ["case changes", "aA"],
    ["marks in changing order", "\u0316\u0300"],
    ["characters of many parts", "\ufdfa"],
    ["lone surrogates", "\ud800"],
    ["apostrophes", "a'"],
    ["Thai", "กิ์"],
    ["Hangul with marks", "각\u0316\u0300"],
  ])("gets through 100 KB of %s", (_, piece) => {
    expect(splitWords(`start ${piece.repeat(Math.floor(100_000 / piece.length))} end`).at(-1)).toBe("end");
  });
});

describe("identifierKey", () => {
  it("is the same for every case style", () => {
    const keys = ["getWeather", "get_weather", "get-weather", "Get weather", "GET_WEATHER", "getweather"].map(
      identifierKey,
    );
    expect(new Set(keys)).toEqual(new Set(["getweather"]));
  });
});
