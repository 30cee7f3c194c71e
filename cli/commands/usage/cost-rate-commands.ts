/** Commands for the price of a core hour. */
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import type { CostRate } from '@switchyard/contract/account/usage.ts';
import type { Session } from '../../session/session.ts';

/** Defines `cost-rate` with its commands. */
export function defineCostRate(program: Command, session: Session): void {
  const costRate = program
    .command('cost-rate')
    .description('Print, set or remove the price of a core hour, by which usage has a cost.');
  costRate
    .command('get', { isDefault: true })
    .description('Print the price of a core hour.')
    .addHelpText('after', '\nExample:\n  switchyard cost-rate get')
    .action(async () => printRate(session, (await session.connect().call('getUsage')).body.cost_rate));
  costRate
    .command('set')
    .description('Set the price of a core hour. It applies to usage of any time.')
    .argument('<price>', 'The price of one reserved core for one hour, such as 0.05.', parsePrice)
    .requiredOption('--currency <code>', 'The currency by its code of ISO 4217, such as EUR.')
    .addHelpText('after', '\nExample:\n  switchyard cost-rate set 0.05 --currency EUR')
    .action(async (per_core_hour, { currency }) => {
      const { body } = await session.connect().call('setCostRate', { body: { currency, per_core_hour } });
      printRate(session, body);
    });
  costRate
    .command('delete')
    .description('Remove the price. Usage then has no cost.')
    .addHelpText('after', '\nExample:\n  switchyard cost-rate delete')
    .action(async () => {
      await session.connect().call('deleteCostRate');
      printRate(session, null);
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
