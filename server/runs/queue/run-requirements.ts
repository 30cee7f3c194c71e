/** The columns of a run with its requirements: the labels of a worker, and the licence tokens of the account. */
import { completeRequirements, type Requirements } from '@switchyard/contract/applications/requirements.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { RequestedConfiguration } from '../../apps/instances/rules.ts';
import { parseLicenses } from '../run-columns.ts';
import type { RunsTable } from '../store/schema.ts';
import type { Demand } from '../workers/offers.ts';

type RequirementColumns = Pick<RunsTable, 'required_labels' | 'required_licenses'>;
type RequirementRow = RequirementColumns & Pick<RunsTable, 'id'>;

/** Returns the columns for the requirements of an instance. */
export function formatRequirements({ requirements }: RequestedConfiguration): RequirementColumns {
  const { labels, licenses } = completeRequirements(requirements);
  return {
    required_labels: labels.length === 0 ? null : labels.map(wrapLabel).join(''),
    required_licenses: Object.keys(licenses).length === 0 ? null : JSON.stringify(licenses),
  };
}

/** Wraps a label in characters that no label contains, so that a statement can remove it from the list without its parts. */
export function wrapLabel(label: string): string {
  return `|${label}|`;
}

function splitLabels({ required_labels }: Pick<RequirementRow, 'required_labels'>): string[] {
  return required_labels === null ? [] : required_labels.slice(1, -1).split('||');
}

/** Parses the columns of a run with its requirements. */
export function parseRequirements(run: RequirementRow): Requirements {
  return { labels: splitLabels(run), licenses: parseLicenses(run) ?? {} };
}

/**
 * Returns the licence tokens that a run requires, by licence. A run whose column is damaged requires more than any account has:
 * it waits, and keeps no other run from starting.
 */
export function readLicenses(run: RequirementRow): Requirements['licenses'] {
  try {
    return parseLicenses(run) ?? {};
  } catch {
    return { 'unreadable licence': Number.POSITIVE_INFINITY };
  }
}

/** Returns the key of a licence of an account. */
export function formatLicenseKey(account: AccountId, name: string): string {
  return `${account} ${name}`;
}

/** The columns of a run that decide which workers could execute it. */
type DemandColumns = RequirementRow & Pick<RunsTable, 'execution_class' | 'account_id' | 'application_uid'>;

/** Returns the demand of a run on its worker. */
export function describeDemand(run: DemandColumns): Demand {
  return {
    executionClass: run.execution_class,
    labels: splitLabels(run),
    account: run.account_id,
    applicationUid: run.application_uid,
  };
}
