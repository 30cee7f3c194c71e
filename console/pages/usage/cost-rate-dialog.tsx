import type { CostRate } from '@switchyard/contract/account/usage.ts';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';

/** The state of an account without a cost rate. */
const NO_RATE = { currency: 'EUR', per_core_hour: null, updated_at: null };

/** Sets the price of a core hour; an empty price removes it. */
export function CostRateDialog({ rate, onClose }: { rate: CostRate | null; onClose: () => void }) {
  const { draft, change, seen, load } = useEdit({
    resource: rate ?? NO_RATE,
    fetch: async () => (await client.call('getUsage')).body.cost_rate ?? NO_RATE,
    createDraft: ({ currency, per_core_hour }) => ({
      currency,
      price: per_core_hour === null ? '' : String(per_core_hour),
    }),
    labels: { price: 'Price of a core hour', currency: 'Currency' },
  });
  const { currency, price } = draft;
  const { updated_at: expected_updated_at } = seen;
  const isRemoved = price.trim() === '';
  const body = { currency: currency.trim().toUpperCase(), per_core_hour: Number(price) };
  const submit = async () => {
    if (!isRemoved) await client.call('setCostRate', { body: { ...body, expected_updated_at } });
    else
      await client.call('deleteCostRate', {
        query: expected_updated_at === null ? {} : { expected_updated_at },
      });
    await queryClient.invalidateQueries({ queryKey: ['getUsage'] });
    onClose();
  };
  return (
    <FormDialog
      title="Cost rate"
      action="Save"
      missing={!isRemoved && !Number.isFinite(body.per_core_hour) && 'Correct the price'}
      requests={[isRemoved ? ['deleteCostRate', {}] : ['setCostRate', { body }]]}
      onSubmit={submit}
      onLoad={load}
      onClose={onClose}
    >
      <TextField
        label="Price of a core hour"
        value={price}
        onChange={(value) => change({ price: value })}
        error={isRemoved || Number.isFinite(body.per_core_hour) ? undefined : 'Not a valid number.'}
        autoFocus
        help="Empty for no cost."
      />
      <TextField
        label="Currency"
        value={currency}
        onChange={(value) => change({ currency: value })}
        help="A code such as EUR or USD."
      />
    </FormDialog>
  );
}
