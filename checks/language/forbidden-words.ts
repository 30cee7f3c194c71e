/**
 * Words that are coined, poetic or ambiguous where a standard term exists. Add each word that makes a reader stop. A
 * word that is also standard English or a standard term is listed with the paths where it is allowed.
 */

/** A forbidden word and its replacements. */
export interface ForbiddenWord {
  /** Matched against one lower-case word of an identifier or file name, or against running text. */
  pattern: RegExp;
  /** The standard terms to choose from. */
  instead: string;
  /** Paths below which the word is the standard term. */
  except?: readonly string[];
}

const EXPERIMENTS = [
  'server/experiments/',
  'contract/experiments/',
  // The comparison of a replay with its original ends in a verdict too.
  'server/runs/replay/',
  'server/runs/api/replay',
  'contract/runs/replays.ts',
  'cli/commands/runs/replay-run.ts',
  'console/ui/experiments/',
  'console/pages/experiment',
  'console/pages/new-experiment/',
  'cli/applying/',
  'cli/commands/applying/',
  'cli/commands/experiments/',
  'cli/experiments/',
  'cli/terminal/pictures/',
  'site/',
  'bench/',
  'sample-apps/',
];
const WRITING = ['checks/'];

/** Whole words of identifiers and of file names: `bear` does not match `bearer`. */
export const FORBIDDEN_NAME_WORDS: readonly ForbiddenWord[] = [
  { pattern: /^(birth|births|born|bear|bears)$/, instead: 'start, create, planned run' },
  { pattern: /^(obituary|obituaries|strike|strikes|struck)$/, instead: 'detect, remove, inject' },
  {
    pattern: /^(mercy|torture|blow|blows|insist|insisting|politely)$/,
    instead: 'fault, inject, retry, chaos',
  },
  { pattern: /^(setback|setbacks)$/, instead: 'backoff' },
  { pattern: /^(stray|strays|stranger|strangers)$/, instead: 'untracked, unknown, other account' },
  { pattern: /^(whoever|whomever|whom|why)$/, instead: 'the subject: owner, worker, reason' },
  { pattern: /^(tell|tells|told|telling)$/, instead: 'notify, report, print, scope' },
  { pattern: /^(ask|asks|asked|asking|unasked)$/, instead: 'request, requested, query' },
  {
    pattern: /^(answer|answers|answered|answering)$/,
    instead: 'response, respond, result',
    // The table of stored responses is called `answers`.
    except: ['server/http/handlers/idempotency.ts'],
  },
  { pattern: /^(give|gives|given|gave|giving)$/, instead: 'pass, provide, argument, received' },
  { pattern: /^(take|takes|taken|took|taking)$/, instead: 'accept, acquire, copy, used' },
  { pattern: /^(bring|brings|brought|bringing)$/, instead: 'submit, create, load' },
  { pattern: /^(shown|unshown)$/, instead: 'format, display, quoted, visible' },
  {
    pattern: /^(say|says|said|hear|hears|heard|spoken|speaking)$/,
    instead: 'report, print, receive, message',
  },
  { pattern: /^(kept|holding|holdings)$/, instead: 'stored, retained, lease, allocation' },
  { pattern: /^(beside|besides)$/, instead: 'snapshot, sibling, adjacent' },
  { pattern: /^(sentence|sentences)$/, instead: 'message, text', except: WRITING },
  { pattern: /^(judge|judges|judged|judging)$/, instead: 'decide, outcome, classify' },
  { pattern: /^(verdict|verdicts)$/, instead: 'outcome', except: EXPERIMENTS },
  { pattern: /^(skim|skims|skimmed|skimmer)$/, instead: 'extract, scan' },
  { pattern: /^(gather|gathers|gathered|gathering)$/, instead: 'collect, ensemble run' },
  { pattern: /^(conclude|concludes|concluded|concluding)$/, instead: 'finalize' },
  { pattern: /^(forget|forgets|forgetter|forgotten)$/, instead: 'evict, expire, delete' },
  { pattern: /^(sweep|sweeps|sweeper|sweeping)$/, instead: 'clean up' },
  {
    pattern: /^(mover|movers|settler|settlers|settle|settles|settled)$/,
    instead: 'job, finalize, advance, decide',
  },
  { pattern: /^(doing|doings|act|acts|deed|deeds)$/, instead: 'action, audited action, operation' },
  { pattern: /^away$/, instead: 'unavailable, transient' },
  { pattern: /^(room|rooms|roomy|house|housed|ring)$/, instead: 'space, capacity, context' },
  { pattern: /^(patience|impatient|hasty)$/, instead: 'timeout, retry policy' },
  { pattern: /^(yardstick|yardsticks)$/, instead: 'baseline, peer' },
  { pattern: /^(news|tidings)$/, instead: 'notification, event' },
  { pattern: /^(trouble|troubles|troubled)$/, instead: 'error, problem, failure' },
  { pattern: /^(wish|wishes|wished)$/, instead: 'option, request' },
  {
    pattern: /^(excuse|excuses|excused|complaint|complaints)$/,
    instead: 'ignored error, problem, violation',
  },
  { pattern: /^(living|dying|doomed)$/, instead: 'active, terminating' },
  { pattern: /^(tidy|lacking|noting|misnamed)$/, instead: 'collapse, missing, record' },
  { pattern: /^(pace|paces)$/, instead: 'interval, rate, limit' },
  { pattern: /^(births?mark|bag|bags)$/, instead: 'record, map' },
  {
    pattern: /^(finding|findings|question|questions)$/,
    instead: 'estimate, result, request',
    except: ['site/', 'explorer/', 'bench/', 'checks/'],
  },
];

/** Compound names, matched whole. */
export const FORBIDDEN_NAMES: readonly ForbiddenWord[] = [
  { pattern: /(^|_)AT_ONCE($|_)|[aA]tOnce/, instead: 'BATCH_SIZE, CONCURRENCY_MAX' },
  { pattern: /^(in|by)Turn/, instead: 'fairly, compareQueueOrder' },
  { pattern: /^(by|of)Itself|^mayPass|^inLine$/, instead: 'retryable, selectQueued' },
  {
    pattern: /[a-z\d](?<!^(lastI|i)ndex|^value|^typeof|^instance|^(any|all|one))Of$/,
    instead: 'a verb with an object (findX, formatX), or the noun alone',
  },
  {
    pattern:
      /[a-z\d](?<!^(margin|padding|border|scroll|offset|top|bottom|client|arrow|to))Left$|^left[A-Z]|_LEFT(_|$)/,
    instead: 'remaining, skipped, orphaned',
  },
];

/** Phrases of comments, messages, log lines, test titles and pages. */
export const FORBIDDEN_PHRASES: readonly ForbiddenWord[] = [
  {
    pattern: /\b(is|are|was|were|be|been|being|has|have|had|gets?|got) told\b/i,
    instead: 'notify, receive, report',
  },
  { pattern: /\btold of\b|\btells? of\b/i, instead: 'report, list, notify' },
  { pattern: /\bwho(m)?ever\b/i, instead: 'the subject: the caller, the worker, a reader' },
  { pattern: /\btaken for (dead|gone|lost)\b/i, instead: 'declared dead' },
  { pattern: /\b(strikes?|struck|striking) off\b/i, instead: 'remove, declare dead' },
  { pattern: /\bstrays?\b/i, instead: 'untracked, orphaned, unexpected' },
  { pattern: /\b(obituary|obituaries|mercy|setbacks?|yardsticks?|roomy)\b/i, instead: 'a standard term' },
  { pattern: /\b(births?|born)\b/i, instead: 'created, start' },
  { pattern: /\btortur(e|es|ed|ing)\b/i, instead: 'chaos test, fault injection' },
  { pattern: /\bskim(s|med|mer|ming)?\b/i, instead: 'extract, scan' },
  { pattern: /\bfor want of\b|\bin want of\b/i, instead: 'because … is missing' },
  { pattern: /\b(lets?|letting|left) be\b/i, instead: 'back off, leave unchanged' },
  { pattern: /\b(lets?|letting) go( of)?\b/i, instead: 'release' },
  { pattern: /\bconclud(e|es|ed|ing)\b/i, instead: 'finalise', except: [...EXPERIMENTS, 'decisions/'] },
  { pattern: /\bsweep(s|er|ers|ing)?\b/i, instead: 'clean-up job' },
  { pattern: /\b(mover|settler|forgetter)s?\b/i, instead: 'job' },
  {
    pattern: /\b(database|store|storage|server|disk|S3|PostgreSQL) (is|was|are|were|goes|went|being) away\b/i,
    instead: 'unavailable',
  },
  {
    pattern: /\bpassing (errors?|failures?|troubles?)\b|\btroubles? that (may )?pass/i,
    instead: 'transient error',
  },
  { pattern: /\banswer(s|ed|ing)?( with)?( an?)? [1-5]\d\d\b/i, instead: 'respond with, return' },
  {
    pattern: /\b(lies|lie|lain|lay) (in|on|below|under|there|beside|inside|outside|where)\b/i,
    instead: 'is stored in',
  },
  { pattern: /\bmust stay true\b/i, instead: 'invariant' },
  { pattern: /\bg(ive|ives|iven|ave|iving) (it |them |runs? )?back\b/i, instead: 'requeue, return, release' },
  { pattern: /\bbreathe(s|d)?\b|\bbreathing\b/i, instead: 'back off, wait' },
  {
    pattern: /\bverdicts?\b/i,
    instead: 'outcome',
    except: [...EXPERIMENTS, 'decisions/', 'contract/', 'checks/'],
  },
];
