/** Groups of fields that only some forms have. Every form has names, and an objective unless it has rules. */
export type FormField =
  /** An existing batch, in place of inputs. */
  | 'existingBatch'
  /** Managed inputs, in place of an input set. */
  | 'managedInputs'
  | 'repetitions'
  /** Ensembles among the sides. */
  | 'ensembles'
  /** Several candidates. */
  | 'candidates'
  /** A good and a bad version, in place of sides. */
  | 'versions'
  | 'optionSets'
  | 'copies'
  | 'units'
  | 'rules'
  /** Margin, measure and guardrails. */
  | 'comparison'
  | 'ties'
  | 'failureMargin'
  | 'seeds'
  | 'listedRuns'
  | 'inputProperties'
  | 'confidence'
  /** Priority and maximum duration of the runs that it creates. */
  | 'runSettings'
  /** The race among its option sets. */
  | 'race'
  | 'searchRuns';

/** The facts of one type of experiment, which contract, server, command line and console read. */
export interface ExperimentDescriptor {
  /** The resource of the API: the last segment of its path, and the beginning of its path parameter. */
  kind: string;
  /** The resource in the ids of its operations, such as `ShadowTest` in `createShadowTest`. */
  resource: string;
  /** The resource in sentences. */
  noun: string;
  tag: string;
  label: string;
  purpose: string;
  /** The words of the button that creates one. */
  action: string;
  /** The effect of a deletion on runs and on other experiments. */
  deletion: string;
  /** true: it compares the runs that callers create between its start and its stop. */
  isLive: boolean;
  /** true: a caller can end it early. */
  canStop: boolean;
  /** true: its runs belong to it. */
  ownsRuns: boolean;
  /** The type whose runs it evaluates, in place of runs of its own. */
  runsOf?: 'batch';
  /** true: its runs are those of callers, which stay after its deletion. */
  servesCallers?: true;
  /** true: it compares candidates with a control, so its result decides on a release. */
  hasCandidates: boolean;
  /** The groups of its form. */
  fields: readonly FormField[];
}
