/**
 * Variables that commands may see beside the usual few, by layer: `env.passthrough`, and what `childAgents.inheritEnvironment`
 * (S114) lists, but for what opens a door elsewhere: that only an organisation can pass on in this way.
 */
import type { Rule } from '../../policy/rules.ts';
import type { Layer } from '../files/layer.ts';

/** Sockets of agents, and what holds a key, a token or the way to one. */
const OPENS_DOORS =
  /^(?:SSH_|GPG_|GNUPG|DBUS_|AWS_|AZURE_|GOOGLE_|XAUTHORITY$|DOCKER_|KUBECONFIG$|NETRC$)|(?:SOCK|SOCKET|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_KEY|_PAT|APIKEY)$/i;

/** A list for each layer that says anything of it. */
export const passedOn = (layers: readonly Layer[]): readonly Rule<readonly string[]>[] =>
  layers.flatMap((layer) => {
    const passed = layer.settings.env?.passthrough;
    const inherited = layer.settings.childAgents?.inheritEnvironment;
    if (passed === undefined && inherited === undefined) return [];
    const kept = (inherited ?? []).filter((name) => !isKeptBack(name, layers));
    const from = layer.reason(passed === undefined ? ['childAgents', 'inheritEnvironment'] : ['env', 'passthrough']);
    return [{ value: [...new Set([...(passed ?? []), ...kept])], from }];
  });

const isKeptBack = (name: string, layers: readonly Layer[]): boolean =>
  OPENS_DOORS.test(name) &&
  !layers.some(
    ({ name: layer, settings }) =>
      layer === 'managed' &&
      [...(settings.env?.passthrough ?? []), ...(settings.childAgents?.inheritEnvironment ?? [])].includes(name),
  );

/** A line for each name that was listed and is not passed on. */
export const keptBackNotes = (layers: readonly Layer[]): readonly string[] =>
  layers.flatMap((layer) =>
    (layer.settings.childAgents?.inheritEnvironment ?? []).flatMap((name, index) => {
      if (!isKeptBack(name, layers)) return [];
      const { file, line } = layer.reason(['childAgents', 'inheritEnvironment', index]);
      return [
        `${file ?? layer.name}${line === null ? '' : `:${line}`}: childAgents.inheritEnvironment: ${name} is not passed on: it opens doors elsewhere, and only a managed policy may list it`,
      ];
    }),
  );
