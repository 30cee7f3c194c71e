/** Commands for the price of a core hour. */
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import type { CostRate } from '@switchyard/contract/account/usage.ts';
import type { Session } from '../../session/session.ts';
import { defineCommand } from '../resource/define-command.ts';

/** Defines `cost-rate` with its commands. */
export function defineCostRate(program: Command, session: Session): void {
  const costRate = program
    .command('cost-rate')
    .description('Print, set or remove the price of a core hour, by which usage has a cost.');
  defineCommand(costRate, session, {
    name: 'get',
    isDefault: true,
    operation: 'getUsage',
    text: 'Print the price of a core hour.',
    print: (_session, body) => printRate(session, body.cost_rate),
  });
  defineCommand(costRate, session, {
    name: 'set',
    operation: 'setCostRate',
    text: 'Set the price of a core hour. It applies to usage of any time.',
    arguments: {
      per_core_hour: [
        '<price>',
        'The price of one reserved core for one hour, such as 0.05.',
        { parse: parsePrice },
      ],
    },
    options: { currency: ['<code>', 'The currency by its code of ISO 4217, such as EUR.'] },
    example: '0.05 --currency EUR',
    print: printRate,
  });
  defineCommand(costRate, session, {
    name: 'delete',
    operation: 'deleteCostRate',
    text: 'Remove the price. Usage then has no cost.',
    print: () => printRate(session, null),
  });
}

function parsePrice(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be a number of at least 0, such as 0.05.');
}

function printRate({ output }: Session, rate: CostRate | null): void {
  output.print({
    json: rate,
    text: () =>
      rate
        ? `A core hour costs ${rate.per_core_hour} ${rate.currency}.\n`
        : 'The account has no cost rate.\n',
    quiet: () => (rate ? String(rate.per_core_hour) : []),
  });
}
