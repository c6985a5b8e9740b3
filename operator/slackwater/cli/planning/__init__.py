"""What a manifest would change: `plan` and `diff`, from files, the cluster and Kafka.

files       manifests and recorded worlds
applying    the ConsumerGroup once the manifest were applied
foreseeing  the world with it applied, from the cluster and Kafka as they are now
campaigns   a FleetCampaign that is not applied yet, in the cluster as it is: `fleet plan -f`
outlook     what core plans for that world, and in words: `plan`
difference  what would change, by field, setting and pod: `diff`
changes     two objects compared
"""
