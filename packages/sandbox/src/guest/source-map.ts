const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const CONTINUES = 32;
const DIGIT_BITS = 5;

/** A place in code; line and column are 1-based. */
export interface Place {
  line: number;
  column: number;
}

interface Segment {
  column: number;
  original: Place;
}

/** Reads a source map with one source, given as a `data:` URL. */
export function readSourceMap(url: string): (place: Place) => Place {
  const { mappings } = JSON.parse(atob(url.slice(url.indexOf(",") + 1))) as { mappings: string };
  let [line, column] = [0, 0];
  const lines = mappings.split(";").map((text) => {
    let generated = 0;
    return text.split(",").flatMap((segment): Segment[] => {
      const [step = 0, , lines = 0, columns = 0] = numbersOf(segment);
      if (segment.length < 2) return [];
      generated += step;
      line += lines;
      column += columns;
      return [{ column: generated, original: { line: line + 1, column: column + 1 } }];
    });
  });
  return (place) =>
    lines[place.line - 1]?.findLast((segment) => segment.column < place.column)?.original ?? place;
}

/** Decodes base64 VLQ numbers. */
function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const character of segment) {
    const digit = DIGITS.indexOf(character);
    value += (digit & (CONTINUES - 1)) << shift;
    shift += DIGIT_BITS;
    if ((digit & CONTINUES) !== 0) continue;
    numbers.push((value & 1) === 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}
