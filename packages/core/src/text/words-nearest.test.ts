import { describe, expect, it } from "vitest";
import { nearest } from "./nearest.ts";

const NAMES = ["get_weather", "get_forecast", "list_locations", "read_file", "write_file"];

describe("nearest", () => {
  it.each([
    ["get_wether", ["get_weather"]],
    ["getWeather", ["get_weather"]],
    ["weather_get", ["get_weather"]],
    ["GetForcast", ["get_forecast"]],
    ["list_location", ["list_locations"]],
    ["read", ["read_file"]],
    ["", []],
    ["send_email", []],
    ["__proto__", []],
  ])("finds what %j may have meant", (name, expected) => {
    expect(nearest(name, NAMES)).toEqual(expected);
  });

  it("puts the nearest first and keeps to the limit", () => {
    const settings = ["sandbox_types", "sandbox_type", "sandbox_tie", "sandbox_image"];
    expect(nearest("sandbox_typ", settings)).toEqual(["sandbox_type", "sandbox_types", "sandbox_tie"]);
    expect(nearest("sandbox_typ", settings, 1)).toEqual(["sandbox_type"]);
  });

  it("does not depend on the order of the candidates", () => {
    expect(nearest("file_x", NAMES.toReversed())).toEqual(nearest("file_x", NAMES));
  });
});
