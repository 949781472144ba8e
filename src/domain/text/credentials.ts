/** Where a person's home holds what proves who they are: no rule opens it to commands, whatever folder above it is opened. */

/** By the folder that they lie in, relative to the home. */
const BY_FOLDER: Readonly<Record<string, string>> = {
  '': '.ssh .gnupg .aws .azure .kube .terraform.d .password-store .vault-token .netrc .git-credentials .pypirc .npmrc .pip',
  '.config/': 'git/credentials gh gcloud go/env pip configstore composer/auth.json NuGet mimir',
  '.local/share/': 'keyrings gem/credentials',
  '.docker/': 'config.json',
  '.npm/': '_logs',
  '.cargo/': 'credentials credentials.toml config config.toml',
  '.m2/': 'settings.xml settings-security.xml',
  '.gradle/': 'gradle.properties init.d init.gradle',
  '.nuget/': 'NuGet',
  '.bundle/': 'config',
  '.gem/': 'credentials',
  '.composer/': 'auth.json',
  '.claude/': '.credentials.json',
  '.codex/': 'auth.json',
  '.gemini/': 'oauth_creds.json',
};

/** Relative to the home; a folder stands for all in it. */
export const CREDENTIALS: readonly string[] = Object.entries(BY_FOLDER).flatMap(([folder, names]) =>
  names.split(' ').map((name) => `${folder}${name}`),
);
