/** By which indicator people judge the runs of an application, and what its other indicators count. */
import type { Application } from '@switchyard/contract/applications/applications.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { useQuery } from '@tanstack/react-query';
import { applicationQuery } from './applications.ts';

/** The objective of an application that names none: most apps report it. It has no direction. */
const USUAL_OBJECTIVE = 'result.value';

/** An indicator as people see it. */
export interface JudgedIndicator {
  name: string;
  label: string;
  /** Empty for none. */
  unit: string;
  /** null: nobody said whether less is better. */
  direction: 'minimize' | 'maximize' | null;
}

/** The meaning of the indicators, and the run with which others are compared. */
export interface Meaning {
  objective: JudgedIndicator;
  /** Indicators that count broken rules. */
  violations: readonly JudgedIndicator[];
  /** null for the default. */
  baseline: string | null;
  /** Returns the label of any indicator; its name where the application gives none. */
  nameIndicator: (name: string) => string;
}

/** Returns what the application says about its indicators; what most say until it is loaded. */
export function useMeaning(application: string): Meaning {
  const { data } = useQuery(applicationQuery(application));
  return readMeaning(data);
}

function readMeaning(application: Application | undefined): Meaning {
  const { objective = null, indicators = {}, baseline_run_id: baseline = null } = application ?? {};
  const name = objective?.name ?? USUAL_OBJECTIVE;
  const { label = 'Objective', unit = '' } = indicators[name] ?? {};
  const violations = Object.entries(indicators).filter(([, { role }]) => role === 'violation');
  return {
    objective: {
      name,
      label: escapeInvisible(label),
      unit: escapeInvisible(unit),
      direction: objective?.direction ?? null,
    },
    violations: violations.map(([one, { label: words = one, unit: own = '' }]) => ({
      ...{ name: one, label: escapeInvisible(words), unit: escapeInvisible(own) },
      direction: 'minimize',
    })),
    baseline,
    nameIndicator: (one) => escapeInvisible(indicators[one]?.label ?? one),
  };
}
