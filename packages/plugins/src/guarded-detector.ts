import { createCustomDetector } from "@cem/pii";
import type { CustomDetector, DetectedText } from "@cem/pii";
import { reasonOf } from "./plugin-use.ts";
import type { PluginUse } from "./plugin-use.ts";

/** For all texts of one result or event together. */
const DETECT_TIMEOUT_MS = 1_000;

interface Place {
  start: number;
  end: number;
}

/**
 * A detector whose faults are its own: it has a time limit for all texts of a result together, and is used no more when it
 * exceeds that twice in a row; where it throws it finds nothing; places that are not in the text are left out.
 */
export function guardDetector(custom: CustomDetector, use: PluginUse): CustomDetector {
  const { type } = custom;
  const part = `detector ${type}`;
  const detector = createCustomDetector(custom);

  const findIn = ({ text, key }: DetectedText): Place[] => {
    try {
      return placesIn(text, detector.find(text, key), () =>
        use.unusable(part, "it finds places that are not there"),
      );
    } catch (error) {
      const failed = use.unusable(part, `it threw ${reasonOf(error)}`);
      if (use.isRequired) throw failed;
      return [];
    }
  };

  return {
    type,
    findAll(texts) {
      for (let attempt = 0; !use.isOff(part); attempt += 1) {
        try {
          return use.callNow(part, DETECT_TIMEOUT_MS, () => texts.map(findIn));
        } catch (error) {
          // A busy machine may have been the cause: values must not slip through for that.
          if (attempt > 0 && use.isRequired) throw error;
        }
      }
      if (use.isRequired) use.callNow(part, DETECT_TIMEOUT_MS, () => {});
      return texts.map(() => []);
    },
  };
}

function placesIn(text: string, found: unknown, onFault: () => void): Place[] {
  if (!Array.isArray(found)) {
    onFault();
    return [];
  }
  const places = found.filter(
    (place: Place | undefined): place is Place =>
      Number.isInteger(place?.start) &&
      Number.isInteger(place?.end) &&
      (place?.start ?? -1) >= 0 &&
      (place?.end ?? 0) > (place?.start ?? 0) &&
      (place?.end ?? Infinity) <= text.length,
  );
  if (places.length < found.length) onFault();
  return places;
}
