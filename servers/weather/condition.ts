/** The typical weather of a day at that time of year. */
export type Condition = "sunny" | "mostly sunny" | "partly cloudy" | "showers" | "rainy" | "snowy";

/** Reads the typical condition off the normals: mean temperature in °C and precipitation in mm a month. */
export function typicalCondition(temperature: number, precipitation: number): Condition {
  if (temperature <= 0 && precipitation >= 25) return "snowy";
  if (precipitation < 15) return "sunny";
  if (precipitation < 40) return "mostly sunny";
  if (precipitation < 75) return "partly cloudy";
  return precipitation < 150 ? "showers" : "rainy";
}
