/** By which indicator people judge the runs of an application, and what its other indicators count. */
import type { Application } from '@switchyard/contract/applications/applications.ts';
import { USUAL_OBJECTIVE } from '@switchyard/contract/applications/usual-objective.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { applicationQuery } from './applications.ts';

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
  /** Returns the label of any indicator, by the same rule as `describe`. */
  nameIndicator: (name: string) => string;
  /** Returns what is known of an indicator, whether the application names it or not. */
  describe: (name: string) => JudgedIndicator;
}

/** The place of an app's own numbers in its statistics, which says nothing to a person. */
const CUSTOM = /^result\.custom\./;

/** Returns the name of an indicator without the place where all own numbers of apps stand. */
function shortenIndicator(name: string): string {
  return name.replace(CUSTOM, '');
}

/** Returns what the application says about its indicators; what most say until it is loaded. */
export function useMeaning(application: string): Meaning {
  const { data } = useQuery(applicationQuery(application));
  return useMemo(() => readMeaning(data), [data]);
}

/** Returns what the application says about its indicators. */
export function readMeaning(
  application: Pick<Application, 'objective' | 'indicators' | 'baseline_run_id'> | undefined,
): Meaning {
  const { objective = null, indicators = {}, baseline_run_id: baseline = null } = application ?? {};
  const goal = objective?.name ?? USUAL_OBJECTIVE;
  const describe = (name: string): JudgedIndicator => {
    const {
      label = name === goal ? 'Objective' : shortenIndicator(name),
      unit = '',
      ...more
    } = indicators[name] ?? {};
    const isLess = more.role === 'violation' || more.role === 'cost';
    const direction = more.direction ?? (isLess ? 'minimize' : 'none');
    return {
      ...{ name, label: escapeInvisible(label), unit: escapeInvisible(unit) },
      direction: name === goal ? (objective?.direction ?? null) : direction === 'none' ? null : direction,
    };
  };
  const violations = Object.keys(indicators).filter((name) => indicators[name]?.role === 'violation');
  return {
    ...{ objective: describe(goal), violations: violations.map(describe), baseline, describe },
    nameIndicator: (name) => describe(name).label,
  };
}
