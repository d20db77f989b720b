/**
 * Words that ask for nothing, whatever the task: they may go unclaimed. Small words of the language (stop words) may, too, but
 * for those in {@link DEMANDING_WORDS}.
 */
export const SMALL_TALK: ReadonlySet<string> = new Set(
  `give provide offer support got like look looks looking right today tonight currently current now moment info information
  detail details data result results value values answer output tool tools server servers skill function api following new
  thing things way kind quick quickly briefly exactly please able know see need want wants wanted help going go tell say let
  us use using used call calls called named titled inside there here existing available hi hello hey thanks`.split(
    /\s+/,
  ),
);

/** Words that ask for more than the sentence without them would: none may go unclaimed. */
export const DEMANDING_WORDS: ReadonlySet<string> = new Set(
  `twice thrice once not no except excluding without but unless instead versus vs than compare compared difference average mean
  median sum total sorted sort ordered descending ascending count percentage percent ratio per each every both all again repeat
  repeatedly daily hourly weekly monthly yearly until till since before after between during while only first last next
  previous top bottom tomorrow yesterday week month year fahrenheit celsius kelvin more most less least fewer`.split(
    /\s+/,
  ),
);
