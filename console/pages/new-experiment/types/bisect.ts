/** The form of bisect experiments. */
import { readMetadata } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { client } from '../../../client/client.ts';
import { splitList } from '../../../ui/forms/split-text.ts';
import type { TypeForm } from './type-form.ts';

export const bisectForm: TypeForm = {
  build: ({ inputSet, inputIds, indicator, direction }) => ({
    ...(inputSet === '' ? { input_ids: splitList(inputIds) } : { input_set_id: inputSet }),
    indicator,
    direction: direction === 'maximize' ? direction : 'minimize',
  }),
  async read(address) {
    const values = await readMetadata(client, { ...address, type: 'bisect' });
    const { input_set_id: inputSet, input_ids, indicator, direction } = values;
    const inputIds = inputSet === null && { inputIds: input_ids.join(', ') };
    return { values, parts: { inputSet: inputSet ?? '', ...inputIds, indicator, direction } };
  },
  listWork: () => undefined,
};
