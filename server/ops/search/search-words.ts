/** Splits and stems words for the search. Pure, so that a text has the same words in the index and in a query. */
import { stemmer } from 'stemmer';

/** Words on every page. A query that also has other words ignores them. */
const STOP_WORDS = new Set(
  (
    'a about above after again against all am an and any are as at be because been before being below ' +
    'between both but by can could did do does doing down during each few for from further had has ' +
    'have having he her here hers him his how i if in into is it its just me more most my no nor not ' +
    'now of off on only or other our ours out over same shall she should so some such than that the ' +
    'their theirs them then there these they this those through to too under until up us very was we ' +
    'were what when where which while who whom why will with would you your yours'
  ).split(' '),
);

/** Letters and digits, with the joints of names such as next_page_token, app.yaml or status_v2. */
const WORD = /[\p{L}\p{N}]+(?:[_./-][\p{L}\p{N}]+)*/gu;
const JOINT = /[_./-]/;
/** No English word is longer, so longer text has no useful stem. */
const STEMMED_CHARS_MAX = 40;

/** Returns the words of a text; a joined name yields the whole name and its parts. */
export function splitWords(text: string): string[] {
  return (text.match(WORD) ?? []).flatMap((word) =>
    JOINT.test(word) ? [word, ...word.split(JOINT)] : [word],
  );
}

/** Synonyms, where pages and readers use different words. A query finds synonyms with half the weight. */
const SYNONYMS = [
  ['docker', 'container', 'podman'],
  ['gpu', 'cuda'],
  ['cron', 'nightly', 'periodic', 'schedule'],
  ['alert', 'notify', 'alarm'],
  ['failure', 'failed', 'error', 'crash'],
  ['benchmark', 'performance'],
  ['cancel', 'abort', 'stop', 'kill'],
  ['delete', 'remove'],
  ['create', 'make', 'add'],
  ['timeout', 'deadline'],
  ['authentication', 'login', 'credential'],
  ['k8s', 'kubernetes'],
  ['parameter', 'option'],
  ['artifact', 'asset'],
  ['concurrency', 'parallel'],
  ['reproducible', 'repeatable', 'deterministic'],
  ['canary', 'shadow'],
  ['job', 'run'],
  ['user', 'member'],
  ['rollback', 'revert', 'undo'],
  ['gitops', 'iac', 'terraform', 'pulumi', 'declarative'],
  ['ci', 'pipeline'],
  ['terminal', 'shell', 'cli'],
  ['monitor', 'observability', 'prometheus'],
  ['ssl', 'tls', 'https'],
  ['oidc', 'sso', 'saml'],
  ['kpi', 'indicator'],
  ['optimum', 'optimal'],
  ['solver', 'optimizer'],
  ['webhook', 'callback'],
  ['purge', 'retention'],
];

/** Maps British and American spellings to one form, so that either finds the other. The form need not be correct. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/is(e|ed|er|es|ing|ation|ations)$/, 'iz$1'],
  [/yse(d|s)?$/, 'yze$1'],
  [/ours?$/, 'or'],
  [/ourable$/, 'orable'],
  [/(licen|defen|offen)ce/, '$1se'],
  [/ll(ed|er|ing)$/, 'l$1'],
  [/ogues?$/, 'og'],
  [/tre$/, 'ter'],
];

/** Returns the terms of a word in the index: lower case without accents, and its stem if that differs. */
export function stemWord(word: string): string[] {
  const plain = word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const stem = wordStem(plain);
  return stem === plain ? [plain] : [plain, stem];
}

/**
 * Returns the stem of a word: one for `queued`, `queues` and `queuing`, and one for `optimise` and `optimization`. It
 * begins with `^`, which no word has, so that a prefix of a word never matches it. Returns other text unchanged.
 */
export function wordStem(word: string): string {
  if (word.length < 3 || word.length > STEMMED_CHARS_MAX || !/^[a-z]+$/.test(word)) return word;
  return `^${stemmer(unifySpelling(word))}`;
}

/** Returns the form that both spellings of a word have. */
export function unifySpelling(word: string): string {
  return SPELLINGS.reduce((text, [pattern, other]) => text.replace(pattern, other), word);
}

const SYNONYMS_BY_STEM: ReadonlyMap<string, readonly string[]> = new Map(
  SYNONYMS.flatMap((words) => {
    const stems = words.map(wordStem);
    return stems.map((stem) => [stem, stems.filter((other) => other !== stem)] as const);
  }),
);

/** Returns the stems of the synonyms of a word; empty when it has none. */
export function listSynonyms(word: string): readonly string[] {
  return SYNONYMS_BY_STEM.get(wordStem(word)) ?? [];
}

/** Returns true for a word in lower case that occurs on every page. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}
