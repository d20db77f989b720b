// The validation libraries. Loaded with the first schema.
export { fullFormats } from "ajv-formats/dist/formats.js";
export { Ajv2019 } from "ajv/dist/2019.js";
export { Ajv2020 } from "ajv/dist/2020.js";
export { Ajv } from "ajv";
export { RE2JS } from "re2js";
