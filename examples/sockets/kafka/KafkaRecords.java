import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.IntegerDeserializer;
import org.apache.kafka.common.serialization.IntegerSerializer;

/** A producer of records, and a consumer that verifies them, of a broker of Kafka. */
final class KafkaRecords {
  private static final String TOPIC = "records";
  private static final int PARTITIONS = 2;
  private static final int RECORDS = 5_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private KafkaRecords() {}

  /** {@code client ADDRESS PORT}, of the broker. */
  public static void main(String[] args) throws Exception {
    Properties broker = new Properties();
    broker.put("bootstrap.servers", args[1] + ":" + args[2]);
    try (Admin admin = Admin.create(broker)) {
      admin.createTopics(List.of(new NewTopic(TOPIC, PARTITIONS, (short) 1))).all().get();
    }
    produce(broker);
    consume(broker);
  }

  private static byte[] value(int number) {
    byte[] bytes = new byte[1 + number * 37 % 2_000];
    new Random(number).nextBytes(bytes);
    return bytes;
  }

  private static void produce(Properties broker) throws Exception {
    try (KafkaProducer<Integer, byte[]> producer =
        new KafkaProducer<>(broker, new IntegerSerializer(), new ByteArraySerializer())) {
      Future<RecordMetadata> last = null;
      for (int i = 0; i < RECORDS; i++) {
        last = producer.send(new ProducerRecord<>(TOPIC, i % PARTITIONS, i, value(i)));
      }
      producer.flush();
      System.out.println("the last of %d records is %s".formatted(RECORDS, last.get()));
    }
  }

  private static void consume(Properties broker) throws IOException {
    Properties reader = new Properties();
    reader.putAll(broker);
    reader.put("group.id", "readers");
    reader.put("auto.offset.reset", "earliest");
    Map<Integer, Integer> next = new HashMap<>();
    int verified = 0;
    long end = System.nanoTime() + PATIENCE.toNanos();
    try (KafkaConsumer<Integer, byte[]> consumer =
        new KafkaConsumer<>(reader, new IntegerDeserializer(), new ByteArrayDeserializer())) {
      consumer.subscribe(List.of(TOPIC));
      while (verified < RECORDS) {
        for (ConsumerRecord<Integer, byte[]> got : consumer.poll(Duration.ofMillis(500))) {
          int expected = next.getOrDefault(got.partition(), got.partition());
          if (got.key() != expected || !Arrays.equals(got.value(), value(expected))) {
            throw new IOException("%s comes, not record %d".formatted(got, expected));
          }
          next.put(got.partition(), expected + PARTITIONS);
          verified++;
        }
        if (System.nanoTime() > end) {
          throw new IOException("%d of %d records came".formatted(verified, RECORDS));
        }
      }
    }
    System.out.println("%d records verified, in the order of each partition".formatted(verified));
  }
}
