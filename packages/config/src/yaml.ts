export { readYaml } from "./yaml-reader.ts";
export type { Position, YamlDocument, YamlPlace, YamlProblem } from "./yaml-reader.ts";
