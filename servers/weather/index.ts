/** Weather as climate normals: monthly averages of 1991-2020 for cities around the world. Not live weather. */
export { get_forecast } from "./get_forecast.ts";
export { get_weather } from "./get_weather.ts";
export { list_locations } from "./list_locations.ts";
