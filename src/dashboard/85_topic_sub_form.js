
// A subscription's settings in a form: of a new one, and of one that is there.

async function topicNames() {
  try {
    const { topics = [] } = await pubsub("GET", "/topics?pageSize=100")
    return topics.map(({ name }) => idOf(name))
  } catch {                                // no suggestions, then
    return []
  }
}

// what stays what it is

function subIdentity() {
  const name = nameField()
  const filter = field("filter", "Filter", {
    wide: true, placeholder: 'attributes.kind = "created"', class: "mono",
    hint: "On attributes. Empty: all messages. It cannot be changed later.",
  })
  const ordered = field("enableMessageOrdering", "In order", {
    type: "checkbox", wide: true, hint: "Messages of one ordering key come in the order in which they were published. It cannot be changed later.",
  })
  return {
    name, nodes: [filter.node, ordered.node],
    values: () => ({ filter: filter.text || undefined, enableMessageOrdering: ordered.input.checked || undefined }),
  }
}

// What an endpoint gets; where there is none, nothing but that is asked for.

const SENT = [
  ["wrapped", "The whole message, in JSON"], ["bare", "Its data alone"], ["headers", "Its data, and the rest as headers"],
]
const NO_WRAPPERS = { bare: {}, headers: { writeMetadata: true } }
const sentBy = ({ noWrapper: bare }) => (!bare ? "wrapped" : bare.writeMetadata ? "headers" : "bare")

function pushFields(config) {
  const url = field("pushConfig.pushEndpoint", "Endpoint", {
    wide: true, type: "url", value: config.pushEndpoint ?? "", placeholder: "https://hooks.example.com/topics/orders",
    hint: "Each message is POSTed to it. Empty: messages are pulled.",
  })
  const sent = field("pushConfig.noWrapper", "What is sent", { wide: true, options: SENT, value: sentBy(config) })
  const account = field("pushConfig.oidcToken.serviceAccountEmail", "Account of its token", {
    value: config.oidcToken?.serviceAccountEmail ?? "", placeholder: "pusher@example.com",
    hint: "By the token, which the server signs, the endpoint knows who sends. Empty: none.",
  })
  const audience = field("pushConfig.oidcToken.audience", "Audience of its token", {
    value: config.oidcToken?.audience ?? "", hint: "For whom the token is. Empty: for the URL of the endpoint.",
  })
  const more = () => { for (const { node } of [sent, account, audience]) node.hidden = url.text === "" }
  url.input.addEventListener("input", more)
  more()

  const token = () => account.text || audience.text
    ? { serviceAccountEmail: account.text || undefined, audience: audience.text || undefined } : undefined
  return {
    nodes: [url, sent, account, audience].map(({ node }) => node),
    value: () => (url.text ? { pushEndpoint: url.text, oidcToken: token(), noWrapper: NO_WRAPPERS[sent.input.value] } : {}),
  }
}

function retryFields(policy) {
  const least = spanField("retryPolicy.minimumBackoff", "Shortest backoff", {
    value: policy?.minimumBackoff, hint: "0 to 600. What failed comes again after it, and twice as late each time.",
  })
  const most = spanField("retryPolicy.maximumBackoff", "Longest backoff", {
    value: policy?.maximumBackoff, hint: "0 to 600. Both empty: it comes again at once.",
  })
  const value = () => {
    const [a, b] = [least.span(), most.span()]
    return a || b ? { ...(a && { minimumBackoff: a }), ...(b && { maximumBackoff: b }) } : undefined
  }
  return { nodes: [least.node, most.node], value }
}

function deadFields(policy, names) {
  const topic = field("deadLetterPolicy.deadLetterTopic", "Dead-letter topic", {
    list: names, value: policy ? idOf(policy.deadLetterTopic) : "", hint: "A topic of this project, which is there already. Empty: none.",
  })
  const attempts = field("deadLetterPolicy.maxDeliveryAttempts", "Attempts before that", {
    type: "number", value: String(policy?.maxDeliveryAttempts ?? 5), hint: "5 to 100.",
  })
  const value = () => topic.text
    ? { deadLetterTopic: policy?.deadLetterTopic && idOf(policy.deadLetterTopic) === topic.text ? policy.deadLetterTopic
        : fullName("topics", topic.text), maxDeliveryAttempts: attempts.number }
    : undefined
  return { node: h("fieldset", { class: "stack" }, h("legend", {}, "Dead letters"), h("div", { class: "fields" }, topic.node, attempts.node)), value }
}

async function subFields(sub) {
  const names = await topicNames()
  const identity = !sub && subIdentity()
  const push = pushFields(sub?.pushConfig ?? {})
  const deadline = field("ackDeadlineSeconds", "Ack deadline", {
    type: "number", unit: "seconds", value: String(sub?.ackDeadlineSeconds ?? 10), hint: "10 to 600: then a message comes again.",
  })
  const kept = spanField("messageRetentionDuration", "Retention", {
    value: sub?.messageRetentionDuration ?? "604800s", hint: "600 to 2,678,400: so long a message is kept.",
  })
  const unused = spanField("expirationPolicy.ttl", "Expires after", {
    value: sub ? sub.expirationPolicy?.ttl : "2678400s", hint: "A day, 86,400, at least: unused for so long it is deleted. Empty: it stays.",
  })
  const acked = field("retainAckedMessages", "Keep what was acknowledged", {
    type: "checkbox", wide: true, value: sub?.retainAckedMessages === true, hint: "So that seeks bring it back, as long as the retention.",
  })
  const once = field("enableExactlyOnceDelivery", "Exactly once", {
    type: "checkbox", wide: true, value: sub?.enableExactlyOnceDelivery === true, hint: "An acknowledgement that came too late is told. For pull alone.",
  })
  const retry = retryFields(sub?.retryPolicy)
  const dead = deadFields(sub?.deadLetterPolicy, names)
  const labels = labelsField(sub?.labels)

  return {
    name: identity && identity.name,
    nodes: [h("div", { class: "fields" }, identity && identity.name.node, push.nodes, deadline.node, kept.node, unused.node, retry.nodes,
              identity && identity.nodes, acked.node, once.node),
            dead.node, labels.node],
    values: () => ({
      ...(identity && identity.values()),
      pushConfig: push.value(),
      ackDeadlineSeconds: deadline.number,
      messageRetentionDuration: kept.span(),
      expirationPolicy: unused.span() ? { ttl: unused.span() } : {},
      retainAckedMessages: acked.input.checked || undefined,
      enableExactlyOnceDelivery: once.input.checked || undefined,
      retryPolicy: retry.value(), deadLetterPolicy: dead.value(), labels: labels.pairs(),
    }),
  }
}

async function createSub(page) {
  const fields = await subFields(null)
  askIn({
    title: `Subscribe to ${page.id}`, action: "Subscribe", inside: fields.nodes,
    async submit() {
      const id = nameIn(fields.name)
      await pubsub("PUT", subscriptionAt(id), { topic: fullName("topics", page.id), ...fields.values() })
      say(`The subscription ${id} is there.`)
      page.again()
    },
  })
}
