import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { offerUndo } from '../../ui/destruction/undo.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useRight } from '../../ui/use-right.ts';
import { getRunParams, type RunAddress, tagsQuery } from './queries.ts';
import styles from './run-tags.module.css';

/** The tags of a run. A role that may run adds and removes them. */
export function RunTags({ address }: { address: RunAddress }) {
  const mayRun = useRight('run');
  const [isAdding, setAdding] = useState(false);
  const { data, error } = useQuery(tagsQuery(address));
  const removal = useMutation({ mutationFn: (tag: string) => removeTag(address, tag) });
  const problem = error ?? removal.error;
  const tags = data?.tags ?? [];
  if (tags.length === 0 && !mayRun) return null;
  return (
    <section aria-labelledby="tags">
      <h2 id="tags">Tags</h2>
      {problem && <Notice kind="error">{describeError(problem)}</Notice>}
      <ul className={styles.tags} aria-label="Tags">
        {tags.map((tag) => (
          <li key={tag} className={styles.tag}>
            <Link
              to="/apps/$application/runs"
              params={{ application: address.application }}
              search={{ tag: tag.replaceAll(',', '\\,') }}
              title="Runs with this tag"
            >
              {tag}
            </Link>
            {mayRun && (
              <Button
                kind="quiet"
                aria-label={`Remove the tag ${tag}`}
                isDisabled={removal.isPending}
                onPress={() => removal.mutate(tag)}
              >
                ×
              </Button>
            )}
          </li>
        ))}
        {mayRun && (
          <li>
            <Button onPress={() => setAdding(true)} isDisabled={data === undefined}>
              Add tag
            </Button>
          </li>
        )}
      </ul>
      {isAdding && <AddTag address={address} tags={tags} onClose={() => setAdding(false)} />}
    </section>
  );
}

function AddTag({
  address,
  tags,
  onClose,
}: {
  address: RunAddress;
  tags: readonly string[];
  onClose: () => void;
}) {
  const [tag, setTag] = useState('');
  const body = { tags: [...tags, tag.trim()] };
  return (
    <FormDialog
      title="Add tag"
      action="Add tag"
      missing={tag.trim() === '' && 'Write a tag'}
      requests={[['setRunTags', { params: getRunParams(address), body }]]}
      onClose={onClose}
      onSubmit={async () => {
        await saveTags(address, body.tags);
        onClose();
      }}
    >
      <TextField
        label="Tag"
        help="A retention policy never deletes a run with a tag."
        value={tag}
        onChange={setTag}
        autoFocus
      />
    </FormDialog>
  );
}

/** Removes the tag, and offers to add it again. */
async function removeTag(address: RunAddress, tag: string): Promise<void> {
  const listOthers = () =>
    (queryClient.getQueryData(tagsQuery(address).queryKey)?.tags ?? []).filter((one) => one !== tag);
  await saveTags(address, listOthers());
  offerUndo({
    message: `Tag ${tag} removed.`,
    undo: () => saveTags(address, [...listOthers(), tag]),
  });
}

async function saveTags(address: RunAddress, tags: string[]): Promise<void> {
  const { body } = await client.call('setRunTags', { params: getRunParams(address), body: { tags } });
  queryClient.setQueryData(tagsQuery(address).queryKey, body);
}
