# Completion of queuectl for bash: sourced by bash-completion from
# /usr/share/bash-completion/completions/queuectl, or from ~/.bashrc.
# Names of queues, topics and so on come from the server, where it answers in time.

_queuectl_flags() {
    local queue='--visibility-timeout --receive-wait --retention --delay
                 --max-message-bytes --content-based-deduplication
                 --dead-letter-queue --max-receive-count'
    local sub='--ack-deadline --retention --retain-acked --expiration
               --no-expiration --exactly-once --dead-letter-topic
               --max-delivery-attempts --min-backoff --max-backoff --label'
    local push='--oidc-account --oidc-audience --no-wrapper --write-metadata'
    local subscription='--url --delivery-timeout --batch-size --max-concurrency'

    case $1 in
        'queues create')                echo --fifo $queue ;;
        'queues list')                  echo --prefix --names --counts ;;
        'queues get')                   ;;
        'queues update')                echo $queue --no-dead-letter-queue ;;
        'queues delete')                echo --yes ;;
        'queues purge')                 echo --yes ;;
        'queues redrive')               echo --destination ;;
        'send')                         echo --file --lines --jsonl --attribute \
                                             --delay --group --deduplication-id \
                                             --start-line --keep-going ;;
        'receive')                      echo --max --wait --visibility-timeout \
                                             --ack --raw ;;
        'drain')                        echo --max --raw ;;
        'peek')                         echo --max --state --raw ;;
        'ack')                          ;;
        'change-visibility')            echo --visibility-timeout ;;
        'subscriptions create')         echo $subscription --paused --secret-file ;;
        'subscriptions list')           echo --queue ;;
        'subscriptions get')            ;;
        'subscriptions update')         echo $subscription ;;
        'subscriptions pause')          ;;
        'subscriptions resume')         ;;
        'subscriptions delete')         echo --yes ;;
        'subscriptions rotate-secret')  echo --secret-file ;;
        'topics create')                echo --retention --label ;;
        'topics list')                  echo --names ;;
        'topics get')                   ;;
        'topics update')                echo --retention --no-retention --label \
                                             --no-labels ;;
        'topics delete')                echo --yes ;;
        'topics subscriptions')         ;;
        'topics publish')               echo --file --lines --jsonl --attribute \
                                             --ordering-key --start-line \
                                             --keep-going ;;
        'topics subscribe')             echo $sub $push --ordering --filter \
                                             --push-endpoint ;;
        'subs list')                    echo --names ;;
        'subs get')                     ;;
        'subs update')                  echo $sub --no-dead-letter-topic \
                                             --no-backoff --no-labels ;;
        'subs delete')                  echo --yes ;;
        'subs detach')                  echo --yes ;;
        'subs push-to')                 echo $push ;;
        'subs pull')                    echo --max --wait --ack --raw --lines ;;
        'subs ack')                     ;;
        'subs extend')                  echo --deadline ;;
        'subs nack')                    ;;
        'subs seek')                    echo --to --ago --snapshot --yes ;;
        'snapshots create')             echo --label ;;
        'snapshots list')               echo --names ;;
        'snapshots get')                ;;
        'snapshots delete')             echo --yes ;;
        'logs configure')               echo --lease-time --retry-limit \
                                             --delayed-processing \
                                             --window-buffer --dedup-window \
                                             --retention --completed-retention \
                                             --max-wait-time --dead-letters \
                                             --encryption --namespace --task \
                                             --replace ;;
        'logs list')                    echo --namespace --task --names ;;
        'logs get')                     echo --partitions --names ;;
        'logs delete')                  echo --yes ;;
        'logs push')                    echo --partition --id --trace --text \
                                             --file --lines --jsonl \
                                             --start-line --keep-going ;;
        'logs pop')                     echo --group --partition --batch \
                                             --partitions --wait --lease \
                                             --from --ack --all --raw --text ;;
        'logs ack')                     echo --failed --retry --dlq --error ;;
        'logs extend')                  echo --lease ;;
        'logs groups')                  echo --names --limit ;;
        'logs group')                   ;;
        'logs seek')                    echo --to --partition ;;
        'logs delete-group')            echo --yes ;;
        'logs messages')                echo --partition --limit --from --raw \
                                             --text ;;
        'logs dead')                    echo --group --limit --raw --text ;;
        'logs retry')                   echo --all ;;
        'logs purge-dead')              echo --group --yes ;;
        'logs maintenance')             ;;
        'keys create')                  echo --permissions --resources \
                                             --secret-file ;;
        'tail')                         echo --interval --once ;;
        'config set')                   ;;
        'config unset')                 ;;
        'config get')                   ;;
        'config list')                  ;;
        'config path')                  ;;
    esac

    echo --endpoint --project --key-file --key --config --json --quiet --verbose \
         --color --timeout --connect-timeout --retries --cacert --insecure \
         --help --version
}

# flags whose value is the next word, by what it is

_queuectl_value() {
    case $1 in
        --file|-f|--key-file|-k|--config|-c|--cacert|--secret-file)
            echo file ;;
        --dead-letter-queue|--destination|--queue)
            echo queues ;;
        --dead-letter-topic)
            echo topics ;;
        --snapshot)
            echo snapshots ;;
        --state|-s)
            echo visible inFlight delayed ;;
        --color)
            echo auto always never ;;
        --content-based-deduplication|--dead-letters|--encryption|\
        --retain-acked|--exactly-once)
            echo on off ;;
        --endpoint|-e|--project|-p|--key|--timeout|--connect-timeout|--retries|\
        --visibility-timeout|-t|--receive-wait|--wait|-w|--retention|--delay|-d|\
        --max-message-bytes|--max-receive-count|--prefix|--attribute|--group|-g|\
        --deduplication-id|--start-line|--max|--url|-u|--delivery-timeout|\
        --batch-size|--max-concurrency|--permissions|--resources|--interval|-i|\
        --label|--ordering-key|--ack-deadline|--expiration|--max-backoff|\
        --max-delivery-attempts|--min-backoff|--filter|--push-endpoint|\
        --oidc-account|--oidc-audience|--deadline|--to|--ago|\
        --lease-time|--retry-limit|--delayed-processing|--window-buffer|\
        --dedup-window|--completed-retention|--max-wait-time|--namespace|\
        --task|--partitions|--partition|--id|--trace|--batch|\
        --lease|--from|--error|--to|--limit)
            echo any ;;
    esac
}

# names of a kind that begin with a word, by the server, settings and key of the
# line so far; partitions are those of a log, and groups are where it is named

_queuectl_names() {
    local kind=$2 list=("$2" list --names)

    case $kind in
        queues)
            list+=(--prefix "$3") ;;
        groups)
            list=(logs groups --names --limit 100)
            [ -z "$4" ] || list+=("$4") ;;
        partitions)
            [ -n "$4" ] || return
            list=(logs get "$4" --names --partitions 100) ;;
    esac

    "$1" "${@:5}" "${list[@]}" --quiet --timeout 2 --connect-timeout 2 \
        --retries 0 2>/dev/null
}

# Offers the lines of stdin that begin with a word, quoted: names of logs are any
# text, and compgen -W would expand what is in them.

_queuectl_offer() {
    local name quoted

    while IFS= read -r name; do
        printf -v quoted %q "$name"
        [[ $name != "$1"* && $quoted != "$1"* ]] || COMPREPLY+=("$quoted")
    done
}

_queuectl() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local group= command= arguments=0 i word value log=
    local -a settings=()

    COMPREPLY=()

    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}

        if [[ $word == -* ]]; then
            if [ -n "$(_queuectl_value "$word")" ]; then
                case $word in
                    --endpoint|-e|--project|-p|--key-file|-k|--key|--config|-c|\
                    --cacert)
                        settings+=("$word" "${COMP_WORDS[i+1]}") ;;
                esac
                ((i++))
            fi

        elif [ -n "$command" ]; then
            ((arguments++))

            # the log of the line

            case $command/$arguments in
                'logs seek/2'|'logs push/1'|'logs pop/1'|'logs messages/1'|\
                'logs dead/1'|'logs purge-dead/1')
                    log=${word//\\/} ;;
            esac

        else
            case $group$word in
                queues|subscriptions|logs|topics|subs|snapshots|\
                keys|config)
                    group="$word " ;;
                *)  command=$group$word ;;
            esac
        fi
    done

    value=
    [[ $before != -* ]] || value=$(_queuectl_value "$before")

    case $command/$before in
        'logs '*/--group|'logs '*/-g)   value=groups ;;
        'logs '*/--partition)           value=partitions ;;
    esac

    if [ -z "$value" ] && [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$(_queuectl_flags "$command")" -- "$current"))
        return
    fi

    if [ -z "$value" ]; then
        case $group$command in
            '')
                value='queues send receive drain peek ack change-visibility
                       subscriptions tail logs topics subs snapshots keys config
                       help' ;;
            'queues ')
                value='create list get update delete purge redrive' ;;
            'subscriptions ')
                value='create list get update pause resume delete
                       rotate-secret' ;;
            'topics ')
                value='create list get update delete subscriptions publish
                       subscribe' ;;
            'subs ')
                value='list get update delete detach push-to pull ack extend
                       nack seek' ;;
            'snapshots ')
                value='create list get delete' ;;
            'logs ')
                value='configure list get delete push pop ack extend groups
                       group seek delete-group messages dead retry purge-dead
                       maintenance' ;;
            'keys ')
                value=create ;;
            'config ')
                value='set unset get list path' ;;
            *'config set'|*'config unset'|*'config get')
                [ $arguments -gt 0 ] \
                    || value='endpoint project key key-file cacert' ;;
            *'queues get'|*'queues update'|*'queues delete'|*'queues purge'|\
            *'queues redrive'|*'subscriptions create'|send|receive|drain|peek)
                [ $arguments -gt 0 ] || value=queues ;;
            *'topics get'|*'topics update'|*'topics delete'|\
            *'topics subscriptions'|*'topics publish'|*'topics subscribe')
                [ $arguments -gt 0 ] || value=topics ;;
            *'subs push-to')
                case $arguments in
                    0) value=subs ;;
                    1) value=none ;;
                esac ;;
            *'snapshots get'|*'snapshots delete')
                [ $arguments -gt 0 ] || value=snapshots ;;
            *'subs '[a-z]*|*'snapshots create')
                [ $arguments -gt 0 ] || value=subs ;;
            *'logs group'|*'logs seek'|*'logs delete-group')
                case $arguments$command in
                    0*)                     value=groups ;;
                    1*seek|1*delete-group)  value=logs ;;
                esac ;;
            *'logs configure'|*'logs get'|*'logs delete'|\
            *'logs push'|*'logs pop'|*'logs groups'|*'logs messages'|\
            *'logs dead'|*'logs retry'|*'logs purge-dead')
                [ $arguments -gt 0 ] || value=logs ;;
        esac
    fi

    case $value in
        file)
            COMPREPLY=($(compgen -f -- "$current")) ;;
        queues|topics|subs|snapshots|logs|groups|partitions)
            _queuectl_offer "$current" < <(_queuectl_names "${COMP_WORDS[0]}" \
                "$value" "$current" "$log" "${settings[@]}") ;;
        any)
            ;;
        *)
            COMPREPLY=($(compgen -W "$value" -- "$current")) ;;
    esac
}

complete -F _queuectl queuectl
