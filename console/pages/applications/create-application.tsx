import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import styles from './create-application.module.css';

/** Asks for the name and id of a new application, creates it and opens its page. */
export function CreateApplication({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [id, setId] = useState('');
  const fields = useId();
  const creation = useMutation({
    mutationFn: () =>
      client.call('createApplication', { body: { name: name.trim(), ...(id.trim() && { id: id.trim() }) } }),
    onSuccess: async ({ body }) => {
      await queryClient.invalidateQueries({ queryKey: ['listApplications'] });
      await navigate({ to: '/apps/$application', params: { application: body.id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') creation.mutate();
  };
  return (
    <Dialog title="New application" onClose={onClose}>
      <form onSubmit={submit}>
        {creation.isError && <Notice kind="error">{describeError(creation.error)}</Notice>}
        <label htmlFor={`${fields}name`}>Name</label>
        <input
          id={`${fields}name`}
          value={name}
          autoComplete="off"
          autoFocus
          onChange={(event) => setName(event.target.value)}
        />
        <label htmlFor={`${fields}id`}>Id</label>
        <input
          id={`${fields}id`}
          value={id}
          autoComplete="off"
          spellCheck={false}
          aria-describedby={`${fields}hint`}
          onChange={(event) => setId(event.target.value)}
        />
        <p id={`${fields}hint`} className={styles.hint}>
          The id is part of every address and never changes. Leave it empty to derive it from the name.
        </p>
        <div className={styles.actions}>
          <Button onPress={onClose}>Close</Button>
          <Button kind="primary" type="submit" isDisabled={name.trim() === '' || creation.isPending}>
            Create application
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
