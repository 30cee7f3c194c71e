import type { CostRate } from '@switchyard/contract/account/usage.ts';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';

/** Sets the price of a core hour; an empty price removes it. */
export function CostRateDialog({ rate, onClose }: { rate: CostRate | null; onClose: () => void }) {
  const [currency, setCurrency] = useState(rate?.currency ?? 'EUR');
  const [price, setPrice] = useState(rate === null ? '' : String(rate.per_core_hour));
  const isRemoved = price.trim() === '';
  const body = { currency: currency.trim().toUpperCase(), per_core_hour: Number(price) };
  const submit = async () => {
    if (isRemoved) await client.call('deleteCostRate');
    else await client.call('setCostRate', { body });
    await queryClient.invalidateQueries({ queryKey: ['getUsage'] });
    onClose();
  };
  return (
    <FormDialog
      title="Cost rate"
      action="Save"
      isReady={isRemoved || Number.isFinite(body.per_core_hour)}
      requests={[isRemoved ? ['deleteCostRate', {}] : ['setCostRate', { body }]]}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Price of a core hour"
        value={price}
        onChange={setPrice}
        autoFocus
        help="Empty for no cost."
      />
      <TextField label="Currency" value={currency} onChange={setCurrency} help="A code such as EUR or USD." />
    </FormDialog>
  );
}
