import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import { readProvisionerSettings } from '../../platform/settings/provisioner-settings.ts';
import { canProvision } from './expected-offer.ts';

const read = (args: string) =>
  readProvisionerSettings({
    SWITCHYARD_PROVISIONER: 'slurm',
    SWITCHYARD_SLURM_ARGS: args,
    SWITCHYARD_PROVISIONER_LABELS: 'gpu,eu',
  });
const DEMAND = {
  ...{
    account: 'account-a' as AccountId,
    applicationUid: 'app-1',
    executionClass: '6c9500mb870s' as ExecutionClass,
    labels: [] as string[],
  },
} as const;
const LARGE = { ...DEMAND, executionClass: '8c16gb12h' } as const;

test.each([
  ['without a provisioner, no run', null, DEMAND, false],
  ['without memory, every class', read('-c 2'), DEMAND, true],
  ['with fewer cores than the default class, its runs', read('-c 4 --mem=64G'), DEMAND, true],
  ['with too few cores for another class, none of its runs', read('-c 7 --mem=64G'), LARGE, false],
  ['with too little memory for it, none of its runs', read('-c 8 --mem=14G'), LARGE, false],
  ['with cores and memory of the class, its runs', read('-c 8 --mem=16G'), LARGE, true],
  ['with the labels, a run that requires them', read('-c 2'), { ...DEMAND, labels: ['gpu'] }, true],
  ['without a label, no run that requires it', read('-c 2'), { ...DEMAND, labels: ['gpu', 'fpga'] }, false],
])('the provisioner serves: %s', (_, settings, demand, expected) => {
  expect(canProvision(settings, demand)).toBe(expected);
});
