/**
 * Words that this project once coined where a standard term exists, and turns of phrase that no English reader expects. Ordinary
 * words are free: a law against them makes prose worse.
 */

/** A forbidden word and its replacements. */
export interface ForbiddenWord {
  /** Matched against one lower-case word of an identifier or file name, or against running text. */
  pattern: RegExp;
  /** The standard terms to choose from. */
  instead: string;
}

/** Whole words of identifiers and of file names: `bear` does not match `bearer`. */
export const FORBIDDEN_NAME_WORDS: readonly ForbiddenWord[] = [
  { pattern: /^(birth|births|born|bear|bears)$/, instead: 'start, create, planned run' },
  { pattern: /^(obituary|obituaries|struck)$/, instead: 'detect, remove, inject' },
  { pattern: /^(mercy|torture|blow|blows)$/, instead: 'fault, inject, retry, chaos' },
  { pattern: /^(setback|setbacks)$/, instead: 'backoff' },
  { pattern: /^(stray|strays)$/, instead: 'untracked, unknown' },
  { pattern: /^(yardstick|yardsticks|tidings)$/, instead: 'baseline, peer, notification' },
  { pattern: /^(skim|skims|skimmed|skimmer)$/, instead: 'extract, scan' },
  {
    pattern: /^(mover|movers|settler|settlers|forgetter|sweeper)$/,
    instead: 'job, reconciler, clean-up job',
  },
];

/** Compound names, matched whole. */
export const FORBIDDEN_NAMES: readonly ForbiddenWord[] = [
  { pattern: /(^|_)AT_ONCE($|_)|[aA]tOnce/, instead: 'BATCH_SIZE, CONCURRENCY_MAX' },
  { pattern: /^(in|by)Turn|^(by|of)Itself|^mayPass|^inLine$/, instead: 'fairly, retryable, queue order' },
];

/** Phrases of comments, messages, log lines, test titles and pages. */
export const FORBIDDEN_PHRASES: readonly ForbiddenWord[] = [
  { pattern: /\btaken for (dead|gone|lost)\b/i, instead: 'declared dead' },
  { pattern: /\b(struck|striking) off\b/i, instead: 'remove, declare dead' },
  {
    pattern: /\b(obituary|obituaries|mercy|setbacks?|strays?|yardsticks?|tidings)\b/i,
    instead: 'a standard term',
  },
  { pattern: /\b(births?|born)\b/i, instead: 'created, start' },
  { pattern: /\btortur(e|es|ed|ing)\b/i, instead: 'chaos test, fault injection' },
  { pattern: /\bskim(s|med|mer|ming)?\b/i, instead: 'extract, scan' },
  { pattern: /\b(mover|settler|forgetter|sweeper)s?\b/i, instead: 'job' },
];

/** Turns of another language. */
export const CALQUES: readonly ForbiddenWord[] = [
  { pattern: /\b(an|the) own\b/i, instead: 'its own, their own' },
  { pattern: /\bso many of\b/i, instead: 'this many' },
  { pattern: /\b(is|are|was|were) told\b/i, instead: 'notify, receive, report' },
  { pattern: /\balone(?=[.;:!?](\s|$))/i, instead: 'only, before the noun' },
];
