// default-world.yaml as a value: the default world starts without a YAML parser. A test keeps the two equal; write the YAML
// first, then this. Read the YAML for its comments.

/** The default world, raw: {@link parseWorldObject} reads it like any other. */
export const DEFAULT_WORLD = {
  version: 1,
  region: "us-west-2",
  issuers: {
    eks: {
      url: "https://oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9",
      alg: "RS256",
    },
    rogue: {
      url: "https://oidc.rogue.pullproof.test",
      alg: "ES256",
    },
  },
  accounts: {
    "111122223333": {
      oidcProviders: [
        {
          issuer: "eks",
          clientIds: ["sts.amazonaws.com"],
          thumbprints: [],
        },
      ],
      roles: {
        "team-a-pull": {
          tags: {
            tenant: "team-a",
          },
          trustPolicy: {
            Version: "2012-10-17",
            Statement: [
              {
                Effect: "Allow",
                Principal: {
                  Federated:
                    "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9",
                },
                Action: "sts:AssumeRoleWithWebIdentity",
                Condition: {
                  StringEquals: {
                    "oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9:sub":
                      "system:serviceaccount:team-a:puller",
                    "oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9:aud": "sts.amazonaws.com",
                  },
                },
              },
            ],
          },
          policies: {
            pull: {
              Version: "2012-10-17",
              Statement: [
                {
                  Effect: "Allow",
                  Action: "ecr:GetAuthorizationToken",
                  Resource: "*",
                },
                {
                  Effect: "Allow",
                  Action: ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability"],
                  Resource: [
                    "arn:aws:ecr:us-west-2:111122223333:repository/team-a/*",
                    "arn:aws:ecr:us-west-2:111122223333:repository/shared/base",
                  ],
                },
              ],
            },
          },
        },
        loose: {
          trustPolicy: {
            Version: "2012-10-17",
            Statement: [
              {
                Effect: "Allow",
                Principal: {
                  Federated:
                    "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9",
                },
                Action: "sts:AssumeRoleWithWebIdentity",
                Condition: {
                  StringEquals: {
                    "oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9:aud": "sts.amazonaws.com",
                  },
                },
              },
            ],
          },
          policies: {
            pull: {
              Version: "2012-10-17",
              Statement: [
                {
                  Effect: "Allow",
                  Action: "ecr:GetAuthorizationToken",
                  Resource: "*",
                },
                {
                  Effect: "Allow",
                  Action: ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability"],
                  Resource: [
                    "arn:aws:ecr:us-west-2:111122223333:repository/team-a/*",
                    "arn:aws:ecr:us-west-2:111122223333:repository/shared/base",
                  ],
                },
              ],
            },
          },
        },
        node: {
          trustPolicy: {
            Version: "2012-10-17",
            Statement: [
              {
                Effect: "Allow",
                Principal: {
                  Service: "ec2.amazonaws.com",
                },
                Action: "sts:AssumeRole",
              },
            ],
          },
          policies: {
            pull: {
              Version: "2012-10-17",
              Statement: [
                {
                  Effect: "Allow",
                  Action: [
                    "ecr:GetAuthorizationToken",
                    "ecr:BatchGetImage",
                    "ecr:GetDownloadUrlForLayer",
                    "ecr:BatchCheckLayerAvailability",
                  ],
                  Resource: "*",
                },
              ],
            },
          },
        },
      },
      users: {
        ci: {
          accessKeys: [
            {
              id: "AKIABTX3GSDS2UISEM2E",
              secret: "pullproofExampleSecretKeyOfAccount111122",
            },
          ],
          policies: {
            all: {
              Version: "2012-10-17",
              Statement: [
                {
                  Effect: "Allow",
                  Action: "ecr:*",
                  Resource: "*",
                },
              ],
            },
          },
        },
      },
      repositories: {
        "team-a/app": {
          images: [
            {
              tag: "1",
              seed: "tiny",
            },
          ],
        },
        "team-a/big": {
          images: [
            {
              tag: "1",
              seed: "big",
              sizeMiB: 4,
            },
          ],
        },
        "shared/base": {
          images: [
            {
              tag: "1",
              seed: "tiny",
            },
          ],
          policy: {
            Version: "2012-10-17",
            Statement: [
              {
                Sid: "TeamBMayPull",
                Effect: "Allow",
                Principal: {
                  AWS: "arn:aws:iam::444455556666:root",
                },
                Action: ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability"],
              },
            ],
          },
        },
      },
    },
    "444455556666": {
      oidcProviders: [
        {
          issuer: "eks",
          clientIds: ["sts.amazonaws.com"],
        },
      ],
      roles: {
        "team-b-pull": {
          trustPolicy: {
            Version: "2012-10-17",
            Statement: [
              {
                Effect: "Allow",
                Principal: {
                  Federated:
                    "arn:aws:iam::444455556666:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9",
                },
                Action: "sts:AssumeRoleWithWebIdentity",
                Condition: {
                  StringEquals: {
                    "oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9:sub":
                      "system:serviceaccount:team-b:puller",
                    "oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9:aud": "sts.amazonaws.com",
                  },
                },
              },
            ],
          },
          policies: {
            pull: {
              Version: "2012-10-17",
              Statement: [
                {
                  Effect: "Allow",
                  Action: "ecr:GetAuthorizationToken",
                  Resource: "*",
                },
                {
                  Effect: "Allow",
                  Action: ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability"],
                  Resource: [
                    "arn:aws:ecr:us-west-2:444455556666:repository/team-b/*",
                    "arn:aws:ecr:us-west-2:111122223333:repository/shared/base",
                  ],
                },
              ],
            },
          },
        },
      },
      repositories: {
        "team-b/app": {
          images: [
            {
              tag: "1",
              seed: "tiny",
            },
          ],
        },
      },
    },
  },
  cluster: {
    issuer: "eks",
    objects: [
      {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: {
          name: "team-a",
        },
      },
      {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: {
          name: "team-b",
        },
      },
      {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: {
          namespace: "team-a",
          name: "puller",
          annotations: {
            "eks.amazonaws.com/ecr-role-arn": "arn:aws:iam::111122223333:role/team-a-pull",
          },
        },
      },
      {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: {
          namespace: "team-b",
          name: "puller",
          annotations: {
            "eks.amazonaws.com/ecr-role-arn": "arn:aws:iam::444455556666:role/team-b-pull",
          },
        },
      },
      {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: {
          namespace: "team-b",
          name: "impostor",
          annotations: {
            "eks.amazonaws.com/ecr-role-arn": "arn:aws:iam::111122223333:role/team-a-pull",
          },
        },
      },
      {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: {
          namespace: "team-b",
          name: "borrower",
          annotations: {
            "eks.amazonaws.com/ecr-role-arn": "arn:aws:iam::111122223333:role/loose",
          },
        },
      },
      {
        apiVersion: "v1",
        kind: "Secret",
        type: "kubernetes.io/dockerconfigjson",
        metadata: {
          namespace: "team-a",
          name: "regcred",
        },
        stringData: {
          ".dockerconfigjson":
            '{"auths":{"registry.pullproof.test":{"username":"team-a","password":"team-a-password"}}}',
        },
      },
      {
        apiVersion: "v1",
        kind: "Secret",
        type: "kubernetes.io/dockerconfigjson",
        metadata: {
          namespace: "team-a",
          name: "regcred-wrong",
        },
        stringData: {
          ".dockerconfigjson": '{"auths":{"registry.pullproof.test":{"username":"team-a","password":"wrong"}}}',
        },
      },
      {
        apiVersion: "v1",
        kind: "Secret",
        type: "kubernetes.io/dockerconfigjson",
        metadata: {
          namespace: "team-b",
          name: "regcred",
        },
        stringData: {
          ".dockerconfigjson":
            '{"auths":{"registry.pullproof.test":{"username":"team-b","password":"team-b-password"}}}',
        },
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: {
          name: "image-pull-audience",
        },
        rules: [
          {
            apiGroups: [""],
            verbs: ["request-serviceaccounts-token-audience"],
            resources: ["sts.amazonaws.com"],
          },
        ],
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: {
          name: "image-pull-audience",
        },
        roleRef: {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "ClusterRole",
          name: "image-pull-audience",
        },
        subjects: [
          {
            apiGroup: "rbac.authorization.k8s.io",
            kind: "Group",
            name: "system:nodes",
          },
        ],
      },
    ],
    nodes: {
      "node-1": {
        version: "1.36",
        pluginDirectory: "builtin",
        kubeletConfiguration: {
          apiVersion: "kubelet.config.k8s.io/v1beta1",
          kind: "KubeletConfiguration",
          imagePullCredentialsVerificationPolicy: "NeverVerifyPreloadedImages",
        },
        preloadedImages: [],
        credentialProviderConfig: {
          apiVersion: "kubelet.config.k8s.io/v1",
          kind: "CredentialProviderConfig",
          providers: [
            {
              name: "ecr-credential-provider",
              apiVersion: "credentialprovider.kubelet.k8s.io/v1",
              matchImages: ["*.dkr.ecr.*.amazonaws.com"],
              defaultCacheDuration: "0s",
              tokenAttributes: {
                serviceAccountTokenAudience: "sts.amazonaws.com",
                cacheType: "ServiceAccount",
                requireServiceAccount: true,
                requiredServiceAccountAnnotationKeys: ["eks.amazonaws.com/ecr-role-arn"],
              },
            },
          ],
        },
      },
      "node-lax": {
        version: "1.36",
        pluginDirectory: "builtin",
        identity: "arn:aws:iam::111122223333:role/node",
        kubeletConfiguration: {
          apiVersion: "kubelet.config.k8s.io/v1beta1",
          kind: "KubeletConfiguration",
          imagePullCredentialsVerificationPolicy: "NeverVerifyPreloadedImages",
        },
        credentialProviderConfig: {
          apiVersion: "kubelet.config.k8s.io/v1",
          kind: "CredentialProviderConfig",
          providers: [
            {
              name: "ecr-credential-provider",
              apiVersion: "credentialprovider.kubelet.k8s.io/v1",
              matchImages: ["*.dkr.ecr.*.amazonaws.com"],
              defaultCacheDuration: "0s",
              tokenAttributes: {
                serviceAccountTokenAudience: "sts.amazonaws.com",
                cacheType: "ServiceAccount",
                requireServiceAccount: true,
                optionalServiceAccountAnnotationKeys: ["eks.amazonaws.com/ecr-role-arn"],
              },
            },
          ],
        },
      },
    },
  },
  registries: {
    plain: {
      host: "registry.pullproof.test",
      auth: "basic",
      users: {
        "team-a": {
          password: "team-a-password",
        },
        "team-b": {
          password: "team-b-password",
        },
      },
      repositories: {
        "public/hello": {
          anonymous: ["pull"],
          images: [
            {
              tag: "1",
              seed: "tiny",
            },
          ],
        },
        "team-a/app": {
          grants: {
            "team-a": ["pull", "push"],
          },
          images: [
            {
              tag: "1",
              seed: "tiny",
            },
          ],
        },
        "team-b/app": {
          grants: {
            "team-b": ["pull", "push"],
          },
          images: [
            {
              tag: "1",
              seed: "tiny",
            },
          ],
        },
      },
    },
  },
  tenants: {
    "team-a": {
      namespaces: ["team-a"],
      images: [
        "111122223333.dkr.ecr.us-west-2.amazonaws.com/team-a/*",
        "111122223333.dkr.ecr.us-west-2.amazonaws.com/shared/*",
        "registry.pullproof.test/team-a/*",
        "registry.pullproof.test/public/*",
      ],
    },
    "team-b": {
      namespaces: ["team-b"],
      images: [
        "444455556666.dkr.ecr.us-west-2.amazonaws.com/team-b/*",
        "111122223333.dkr.ecr.us-west-2.amazonaws.com/shared/*",
        "registry.pullproof.test/team-b/*",
        "registry.pullproof.test/public/*",
      ],
    },
  },
  switches: {
    httpIssuers: false,
    autoCreateRepositories: false,
    verifyThumbprints: false,
    blobRedirect: false,
    ecrQuirks: true,
    shortTokens: false,
    outsideNetwork: false,
  },
};
